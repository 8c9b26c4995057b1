// Package recovery measures how long tasks that were lost with a machine wait for a slot,
// and whether they get one local to their input.
//
//	results, err := recovery.Run(ctx, recovery.Config{Hammr: program, Dir: dir, Policies: []string{"chronos+fifo"}, Kills: 20, Logf: log.Printf})
//
// A cluster of processes has three masters, four tasknodes and a real HDFS with a DataNode
// at the address of each tasknode. All slots are taken, half of them by a job of lower
// priority, when a tasknode is killed. Tasks sleep at each record, because one machine is
// not a cluster. It takes Java and the jars of HDFS.
//
// The wait of a task is from the end of its lost attempt, which is when the loss is
// declared, to the start of the next one. The wait of a failure lasts until all tasks that
// its job had on the machine run again.
package recovery

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sim/tables"
)

// Config describes a measurement. All fields are required.
type Config struct {
	Hammr    string   // file of the hammr program
	Dir      string   // for clusters and outputs
	Policies []string // in the order in which they run
	Kills    int      // of tasknodes, for each policy and kind of task
	Logf     func(format string, args ...any)
}

// Run measures each policy. The HDFS and the input are the same for all policies, so that
// locality differs by the policy alone. With an error it returns the failures before.
func Run(ctx context.Context, cfg Config) (tables.Results, error) {
	lost, err := runAll(ctx, cfg)
	return resultsOf(lost), err
}

func runAll(ctx context.Context, cfg Config) (lost []lostTask, err error) {
	hdfs, err := startHDFS(ctx, cfg.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, hdfs.Close()) }()
	hosts, err := writeInput(ctx, hdfs)
	if err != nil {
		return nil, err
	}
	for _, policy := range cfg.Policies {
		m := &measurement{cfg: cfg, hdfs: hdfs, hosts: hosts, policy: policy}
		err := m.run(ctx)
		if lost = append(lost, m.lost...); err != nil {
			return lost, fmt.Errorf("%s: %w", policy, err)
		}
	}
	return lost, nil
}

// measurement is the failures under one policy.
type measurement struct {
	cfg    Config
	policy string
	hdfs   *minihdfs.Cluster
	hosts  []map[string]bool // hosts of each file of the input

	rig  *rig.Rig
	lost []lostTask
}

// run kills tasknodes while maps run, and then while reduces do. Each policy has a cluster
// of its own: so a policy cannot use what an earlier one has recorded about machines.
func (m *measurement) run(ctx context.Context) (err error) {
	dir := filepath.Join(m.cfg.Dir, strings.ReplaceAll(m.policy, "+", "-"))
	m.rig, err = rig.Start(ctx, rig.Config{Dir: dir, Hammr: m.cfg.Hammr, Tasknodes: nodes, HDFS: m.hdfs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.rig.Close()) }()
	if err := client.SetPolicy(ctx, m.rig.Client(), m.policy, nil); err != nil {
		return err
	}
	for _, s := range []scene{maps(m.hdfs.URI()), reduces()} {
		for n := range m.cfg.Kills {
			lost, err := m.fail(ctx, s)
			if err != nil {
				return fmt.Errorf("failure %d of %ss: %w", n+1, s.what, err)
			}
			for _, l := range lost {
				l.policy, l.kind, l.failure = m.policy, s.what, n+1
				m.lost = append(m.lost, l)
			}
			m.cfg.Logf("%s, failure %d of %ss: %d tasks lost", m.policy, n+1, s.what, len(lost))
		}
	}
	return nil
}

// fail fills the cluster, kills the tasknode with most tasks of the job of higher
// priority, and waits until these run again.
//
//	higher runs on half of the slots ─► lower takes the rest and wants more
//	     ─► kill the tasknode with most tasks of higher ─► all of those run again ─► restore
//
// The job of lower priority must be running: a policy that preempts takes its slots, and
// one that does not has to wait for them. That difference is what is measured.
func (m *measurement) fail(ctx context.Context, s scene) (lost []lostTask, err error) {
	var ids []string
	defer func() { err = errors.Join(err, m.restore(ctx, ids)) }()
	var status *wire.JobStatus
	for _, job := range []job{s.higher, s.lower} {
		id, err := m.submit(ctx, job)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if err := m.await(ctx, "running tasks of "+id, id, func(j *wire.JobStatus) bool { return len(running(j, s.kind)) >= job.tasks }); err != nil {
			return nil, err
		}
	}
	if status, err = m.rig.Client().Job(ctx, ids[0], true); err != nil {
		return nil, err
	}
	victim := mostFrequent(running(status, s.kind))
	killed := time.Now().UnixMilli()
	if err := m.rig.Kill(ctx, victim); err != nil {
		return nil, err
	}
	err = m.await(ctx, "recovery of "+ids[0], ids[0], func(j *wire.JobStatus) (all bool) {
		lost, all = recovered(j, victim, killed, m.local(s.kind))
		return all
	})
	return lost, err
}

// restore ends the jobs and starts the killed tasknode. The next failure then starts from
// the same state.
func (m *measurement) restore(ctx context.Context, ids []string) error {
	for _, id := range ids {
		_ = m.rig.Client().Kill(ctx, id, "the measurement is over") // the job may have ended
	}
	for _, id := range ids {
		if err := m.await(ctx, "end of "+id, id, func(j *wire.JobStatus) bool { return j.FinishTime > 0 }); err != nil {
			return err
		}
	}
	_, names := m.rig.Names()
	return m.rig.Start(ctx, names...)
}

// local reports whether a tasknode has the input of a task; it is nil for tasks whose input
// is nowhere in particular. Reduces read from all machines, so only maps have a place.
func (m *measurement) local(kind taskproc.Kind) func(task int, node string) bool {
	if kind != taskproc.Kind_MAP {
		return nil
	}
	return func(task int, node string) bool {
		var n int
		fmt.Sscanf(node, "n%d", &n)
		return m.hosts[task][m.hdfs.Host(n-1)]
	}
}

// submit submits a job and returns its id. Outputs of jobs that write are on this machine's
// disk, each in a directory of its own.
func (m *measurement) submit(ctx context.Context, j job) (string, error) {
	args := append([]string{"run", j.args[0], "--detach"}, j.args[1:]...)
	if j.writes {
		out, err := os.MkdirTemp(m.cfg.Dir, "out")
		if err != nil {
			return "", err
		}
		args = append(args, filepath.Join(out, "files"))
	}
	return m.rig.Program().Run(ctx, args...)
}

// stepTimeout bounds everything that is waited for.
const stepTimeout = 2 * time.Minute

// await waits until a job is as wanted. The error says which step was too slow.
func (m *measurement) await(ctx context.Context, what, id string, wanted func(j *wire.JobStatus) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("not within %v: %s", stepTimeout, what))
	defer cancel()
	_, err := m.rig.AwaitJob(ctx, id, wanted)
	return err
}
