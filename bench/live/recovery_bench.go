package live

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/tables"
)

// RecoveryBench measures how long tasks that were lost with a machine wait for a slot, and
// whether they get one local to their input.
//
// A cluster of processes has three masters, four tasknodes and a real HDFS with a DataNode
// at the address of each tasknode. All slots are taken, half of them by a job of lower
// priority, when a tasknode is killed. Tasks sleep at each record, because one machine is
// not a cluster. It takes Java and the jars of HDFS.
//
// The wait of a task is from the end of its lost attempt, which is when the loss is
// declared, to the start of the next one. The wait of a failure lasts until all tasks that
// its job had on the machine run again.
type RecoveryBench struct {
	Hammr    string   // file of the hammr program
	Work     string   // directory for clusters and outputs
	Policies []string // in the order in which they run
	Kills    int      // of tasknodes, for each policy and kind of task
	Logf     func(format string, args ...any)
}

// The input of each job is a file with a block for each tasknode. Each line has a different word.
const (
	recoveryNodes     = 4
	recoveryLines     = 1536 // of a block
	recoveryLineBytes = 10
	recoveryBlock     = recoveryLines * recoveryLineBytes
)

// Run measures each policy. The HDFS and the input are the same for all policies, so that
// locality differs by the policy alone. With an error it returns the failures before.
func (b RecoveryBench) Run(ctx context.Context) (tables.Results, error) {
	lost, err := b.runAll(ctx)
	return recoveryResults(lost), err
}

func (b RecoveryBench) runAll(ctx context.Context) (lost []lostTask, err error) {
	g := hdfsInput{hammr: b.Hammr}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.prepare(ctx, filepath.Join(b.Work, "hdfs"), sim.Config{Machines: recoveryNodes, Replication: 3}, Scale{}); err != nil {
		return nil, err
	}
	for i, name := range []string{"higher", "lower"} {
		err := g.write(ctx, g.hdfs.URI()+"/"+name, 3, recoveryBlock, func(w io.Writer) error {
			for n := range recoveryNodes * recoveryLines {
				if _, err := fmt.Fprintf(w, "w%0*d\n", recoveryLineBytes-2, i*recoveryNodes*recoveryLines+n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	hosts, err := g.locateBlocks(ctx, g.hdfs.URI()+"/higher")
	if err != nil {
		return nil, err
	}
	for _, policy := range b.Policies {
		m := &recoveryRun{RecoveryBench: b, policy: policy, hosts: hosts}
		err := m.run(ctx, &g)
		if lost = append(lost, m.lost...); err != nil {
			return lost, fmt.Errorf("%s: %w", policy, err)
		}
	}
	return lost, nil
}

// recoveryRun is the failures under one policy.
type recoveryRun struct {
	RecoveryBench
	policy  string
	hosts   blockHosts // of the input of the job of higher priority
	cluster *Cluster
	lost    []lostTask
}

// run kills tasknodes while maps run, and then while reduces do. Each policy has a cluster
// of its own: so a policy cannot use what an earlier one has recorded about machines.
func (m *recoveryRun) run(ctx context.Context, g *hdfsInput) (err error) {
	m.cluster, err = Start(ctx, Config{
		Hammr: m.Hammr, Dir: filepath.Join(m.Work, strings.ReplaceAll(m.policy, "+", "-")), Policy: m.policy,
		Masters: 3, Tasknodes: recoveryNodes, MapSlots: 2, ReduceSlots: 1, Expiry: time.Second, HDFS: g.hdfs,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.cluster.Stop()) }()
	for _, s := range []recoveryScene{mapScene(g.hdfs.URI()), reduceScene()} {
		for n := range m.Kills {
			lost, err := m.fail(ctx, s)
			if err != nil {
				return fmt.Errorf("failure %d of %ss: %w", n+1, s.what, err)
			}
			for _, l := range lost {
				l.policy, l.kind, l.failure = m.policy, s.what, n+1
				m.lost = append(m.lost, l)
			}
			m.Logf("%s, failure %d of %ss: %d tasks lost", m.policy, n+1, s.what, len(lost))
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
func (m *recoveryRun) fail(ctx context.Context, s recoveryScene) (lost []lostTask, err error) {
	var ids []string
	defer func() { err = errors.Join(err, m.restore(ctx, ids)) }()
	for _, job := range []sceneJob{s.higher, s.lower} {
		id, err := m.submit(ctx, job)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
		if err := m.await(ctx, "running tasks of "+id, id, func(j *wire.JobStatus) bool { return len(running(j, s.kind)) >= job.tasks }); err != nil {
			return nil, err
		}
	}
	status, err := docs.Status.From(ctx, m.cluster.Client(), docs.JobID{Job: ids[0]})
	if err != nil {
		return nil, err
	}
	victim := mostFrequent(running(status, s.kind))
	killed := time.Now().UnixMilli()
	if err := m.cluster.Kill(ctx, victim); err != nil {
		return nil, err
	}
	// Reduces read from all machines, so only maps have a place.
	var hosts blockHosts
	if s.kind == taskproc.Kind_MAP {
		hosts = m.hosts
	}
	err = m.await(ctx, "recovery of "+ids[0], ids[0], func(j *wire.JobStatus) (all bool) {
		lost, all = recovered(j, victim, killed, hosts)
		return all
	})
	return lost, err
}

// restore ends the jobs and starts the killed tasknode. The next failure then starts from
// the same state.
func (m *recoveryRun) restore(ctx context.Context, ids []string) error {
	for _, id := range ids {
		_ = m.cluster.Client().Kill(ctx, id, "the measurement is over") // the job may have ended
	}
	for _, id := range ids {
		if err := m.await(ctx, "end of "+id, id, func(j *wire.JobStatus) bool { return j.FinishTime > 0 }); err != nil {
			return err
		}
	}
	_, names := m.cluster.Names()
	return m.cluster.Start(ctx, names...)
}

// submit submits a job and returns its id. Outputs of jobs that write are on this machine's
// disk, each in a directory of its own.
func (m *recoveryRun) submit(ctx context.Context, j sceneJob) (string, error) {
	args := append([]string{"submit"}, j.args...)
	if j.writes {
		out, err := os.MkdirTemp(m.Work, "out")
		if err != nil {
			return "", err
		}
		args = append(args, filepath.Join(out, "files"))
	}
	return m.cluster.Program().Run(ctx, args...)
}

// await waits until a job is as wanted. The error says which step was too slow.
func (m *recoveryRun) await(ctx context.Context, what, id string, wanted func(j *wire.JobStatus) bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("not within %v: %s", stepTimeout, what))
	defer cancel()
	_, err := m.cluster.AwaitJob(ctx, id, wanted)
	return err
}

// sceneJob is a job to submit.
type sceneJob struct {
	args   []string // of hammr submit
	writes bool     // the name of its output follows
	tasks  int      // that have to run before the next step
}

// recoveryScene is two jobs that fill a cluster: each has half of the slots, and the one of lower
// priority wants more. Sleeps are long enough that no task of the higher job ends between
// the kill and its recovery, and short enough that the lower job's slots become free by
// themselves within the bound of a step.
type recoveryScene struct {
	what          string
	kind          taskproc.Kind
	higher, lower sceneJob
}

// highest is the property of a job that fair, too, serves before others.
const highest = "mapreduce.job.priority=VERY_HIGH"

// mapScene is on 8 map slots: four maps of half a minute, and eight of half as long.
func mapScene(uri string) recoveryScene {
	words := func(file string, lines int, more ...string) []string {
		args := append([]string{"wordcount", "-D", "hammr.debug.record.sleep=20", "-D", "mapreduce.job.reduces=0", "-D", "hammr.input.combine=false"}, more...)
		return append(args, "-D", fmt.Sprint("mapreduce.input.fileinputformat.split.maxsize=", lines*recoveryLineBytes), uri+file)
	}
	return recoveryScene{
		what: "map", kind: taskproc.Kind_MAP,
		higher: sceneJob{args: words("/higher", recoveryLines, "-D", highest), writes: true, tasks: recoveryNodes},
		lower:  sceneJob{args: words("/lower", recoveryLines/2), writes: true, tasks: recoveryNodes},
	}
}

// reduceScene is on 4 reduce slots: two reduces of 40 s, and two of four. Each sleep is divided
// into records of 20 ms, so that a checkpoint finds a place soon.
func reduceScene() recoveryScene {
	sleep := func(reduces int, more ...string) []string {
		return append(append([]string{"sleep"}, more...), "-m", "1", "-mt", "20", "-r", fmt.Sprint(reduces), "-rt", "40000", "-recordt", "20")
	}
	return recoveryScene{
		what: "reduce", kind: taskproc.Kind_REDUCE,
		higher: sceneJob{args: sleep(recoveryNodes/2, "-D", highest), tasks: recoveryNodes / 2},
		lower:  sceneJob{args: sleep(recoveryNodes), tasks: recoveryNodes / 2},
	}
}

// running returns the tasknodes on which tasks of a kind run.
func running(j *wire.JobStatus, kind taskproc.Kind) (nodes []string) {
	for _, t := range j.Tasks {
		for _, a := range t.Attempts {
			if t.Kind == kind && a.FinishTime == 0 && !a.Suspended {
				nodes = append(nodes, a.Machine)
			}
		}
	}
	return nodes
}

// mostFrequent returns the most frequent name, the first of several. names is not empty. It
// sorts the slice of the caller.
func mostFrequent(names []string) string {
	slices.Sort(names)
	count := make(map[string]int)
	for _, name := range names {
		count[name]++
	}
	return slices.MaxFunc(names, func(a, b string) int { return count[a] - count[b] })
}
