package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hammr/hammr/internal/docs"
	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/kit/percentile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/sim"
	"github.com/hammr/hammr/sim/tables"
)

// Recovery measures how long tasks that were lost with a machine wait for a slot, and
// whether they get one local to their input.
//
// A cluster of processes has three masters, four tasknodes and a real HDFS with a DataNode
// at the address of each tasknode. All slots are taken, half of them by a job of lower
// priority, when a tasknode is killed. Tasks sleep at each record, because one machine is
// not a cluster. It takes Java and the jars of HDFS.
//
// The waits are those that the masters record: from when the loss is declared to the start of the
// next attempt. The wait of a failure lasts until all tasks that its job had on the machine run
// again. The HDFS and the input are the same for all policies, so that locality differs by the
// policy alone.
func (b Bench) Recovery(ctx context.Context, policies []string) (tables.Results, error) {
	lost, err := b.loseTasks(ctx, policies)
	return recoveryResults(lost), err
}

// The input of each job is a file with a block for each tasknode. Each line has a different word.
const (
	recoveryNodes     = 4
	recoveryLines     = 1536 // of a block
	recoveryLineBytes = 10
	recoveryBlock     = recoveryLines * recoveryLineBytes
)

// loseTasks measures each policy.
func (b Bench) loseTasks(ctx context.Context, policies []string) (lost []lostTask, err error) {
	g := &recoveryInput{hdfsInput: hdfsInput{program: testcluster.Program{File: b.Hammr}}}
	defer func() { err = errors.Join(err, g.close()) }()
	if b.Testbed == nil {
		if err := g.prepare(ctx, filepath.Join(b.Work, "hdfs"), sim.Config{Machines: recoveryNodes, Replication: 3}, Scale{}); err != nil {
			return nil, err
		}
	}
	for _, policy := range policies {
		m := &recoveryRun{Bench: b, policy: policy, input: g}
		err := m.run(ctx)
		if lost = append(lost, m.lost...); err != nil {
			return lost, fmt.Errorf("%s: %w", policy, err)
		}
	}
	return lost, nil
}

// recoveryInput is the input of the jobs of all policies.
type recoveryInput struct {
	hdfsInput
	written bool
}

// write writes the input, unless it is there.
func (g *recoveryInput) write(ctx context.Context) error {
	if g.written {
		return nil
	}
	for i, name := range []string{"higher", "lower"} {
		err := g.hdfsInput.write(ctx, g.uri+"/"+name, 3, recoveryBlock, func(w io.Writer) error {
			for n := range recoveryNodes * recoveryLines {
				if _, err := fmt.Fprintf(w, "w%0*d\n", recoveryLineBytes-2, i*recoveryNodes*recoveryLines+n); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	g.written = true
	return nil
}

// recoveryRun is the failures under one policy.
type recoveryRun struct {
	Bench
	policy  string
	input   *recoveryInput
	cluster *Cluster
	lost    []lostTask
}

// run kills tasknodes while maps run, and then while reduces do. Each policy has a cluster
// of its own: so a policy cannot use what an earlier one has recorded about machines.
func (m *recoveryRun) run(ctx context.Context) (err error) {
	m.cluster, err = Start(ctx, Config{
		Hammr: m.Hammr, Dir: filepath.Join(m.Work, strings.ReplaceAll(m.policy, "+", "-")), Policy: m.policy,
		Masters: 3, Tasknodes: recoveryNodes, MapSlots: 2, ReduceSlots: 1, Expiry: time.Second, HDFS: m.input.hdfs, Testbed: m.Testbed,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.cluster.Stop()) }()
	if m.Testbed != nil {
		m.input.attach(m.cluster)
	}
	if err := m.input.write(ctx); err != nil {
		return err
	}
	for _, s := range []recoveryScene{mapScene(m.input.uri), reduceScene()} {
		for n := range m.N {
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
		if err := m.cluster.awaitStep(ctx, "running tasks of "+id, id, func(j *wire.JobStatus) bool { return len(running(j, s.kind)) >= job.tasks }); err != nil {
			return nil, err
		}
	}
	status, err := docs.Status.From(ctx, m.cluster.Client(), docs.JobID{Job: ids[0]})
	if err != nil {
		return nil, err
	}
	victim := busiest(running(status, s.kind))
	killed := time.Now().UnixMilli()
	if err := m.cluster.Kill(ctx, victim); err != nil {
		return nil, err
	}
	recovering, cancel := context.WithTimeoutCause(ctx, stepTimeout, fmt.Errorf("not within %v: recovery of %s", stepTimeout, ids[0]))
	defer cancel()
	err = syncutil.Poll(recovering, progressInterval, func(ctx context.Context) (all bool, err error) {
		losses, err := docs.Losses.From(ctx, m.cluster.Client(), docs.LossQuery{Node: victim})
		lost, all = recovered(losses, ids[0], killed)
		return all, err
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
		if err := m.cluster.awaitStep(ctx, "end of "+id, id, func(j *wire.JobStatus) bool { return j.FinishTime > 0 }); err != nil {
			return err
		}
	}
	_, names := m.cluster.Names()
	return m.cluster.Start(ctx, names...)
}

// submit submits a job and returns its id. Outputs of jobs that write have directories of their
// own.
func (m *recoveryRun) submit(ctx context.Context, j sceneJob) (string, error) {
	args := j.args
	if j.writes {
		args = append(slices.Clone(args), fmt.Sprintf("%s/out-%d", m.cluster.files, time.Now().UnixNano()))
	}
	return m.cluster.submit(ctx, args...)
}

// sceneJob is a job to submit.
type sceneJob struct {
	args   []string // arguments of hammr submit
	writes bool     // the name of the output is added to args
	tasks  int      // number of its tasks that have to run before the next step
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

// highest is the priority at which the fair policy, too, serves a job before all others.
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

// running returns the attempts of a kind that have a slot.
func running(j *wire.JobStatus, kind taskproc.Kind) (attempts []*wire.TaskStatus_Attempt) {
	for _, t := range j.Tasks {
		for _, a := range t.Attempts {
			if t.Kind == kind && a.State == wire.AttemptState_ATTEMPT_RUNNING && !a.Suspended {
				attempts = append(attempts, a)
			}
		}
	}
	return attempts
}

// busiest returns the tasknode with most of the attempts, the first by name of several. There is
// at least one attempt.
func busiest(attempts []*wire.TaskStatus_Attempt) string {
	count := make(map[string]int)
	for _, a := range attempts {
		count[a.Machine]++
	}
	return slices.MaxFunc(slices.Sorted(maps.Keys(count)), func(a, b string) int { return count[a] - count[b] })
}

// lostTask is a task that was lost while it ran. Its wait is the time from the loss of its tasknode
// to the start of the next attempt, in ms.
type lostTask struct {
	policy, kind string
	failure      int // from 1
	wait         int64
	placed       bool // its input is on some machines
	local        bool // it runs again on one of them
}

// recovered returns the tasks of a job that ran on a tasknode when it was killed, in ms since the
// epoch, if all of them run again. losses are those of the tasknode. Before the loss is declared, and
// while a task waits, it reports false and the caller asks again, so that no failure is counted by half.
// Reduces read from all machines, so only maps are placed.
func recovered(losses apidoc.Losses, job string, killed int64) (lost []lostTask, all bool) {
	if len(losses.Losses) == 0 || losses.Losses[0].Time < killed {
		return nil, false
	}
	for _, t := range losses.Losses[0].Tasks {
		if docs.JobOf(t.Attempt) != job || t.Output {
			continue
		}
		if t.State == "WAITING" {
			return nil, false
		}
		lost = append(lost, lostTask{wait: t.WaitMillis, placed: t.Place != "any", local: t.Place == "node"})
	}
	return lost, true
}

// recoveryResults has a line for each lost task, and the percentiles of their waits. A failure lasts
// until the last of its tasks runs again.
func recoveryResults(all []lostTask) tables.Results {
	r := tables.Results{
		Samples: tables.New("policy", "task", "failure", "wait_ms", "local"),
		Summary: tables.New("POLICY|%s", "TASK", "LOST|%d", "WAIT P50|%d ms", "P95|%d ms", "MOST|%d ms", "LOCAL", "FAILURES|%d", "RIGHT AGAIN P50|%d ms", "P95|%d ms"),
	}
	for group, lost := range tables.Groups(all, func(l lostTask) [2]string { return [2]string{l.policy, l.kind} }) {
		var waits, failures []int64
		placed, near := 0, 0
		for _, l := range lost {
			isLocal := ""
			if l.placed {
				placed, isLocal = placed+1, strconv.FormatBool(l.local)
			}
			if l.local {
				near++
			}
			waits = append(waits, l.wait)
			r.Samples.Add(l.policy, l.kind, l.failure, l.wait, isLocal)
		}
		for _, of := range tables.Groups(lost, func(l lostTask) int { return l.failure }) {
			failures = append(failures, slices.MaxFunc(of, func(a, b lostTask) int { return cmp.Compare(a.wait, b.wait) }).wait)
		}
		local := "–"
		if placed > 0 {
			local = fmt.Sprintf("%d of %d", near, placed)
		}
		r.Summary.Add(group[0], group[1], len(lost), percentile.Of(waits, 50), percentile.Of(waits, 95), percentile.Of(waits, 100), local,
			len(failures), percentile.Of(failures, 50), percentile.Of(failures, 95))
	}
	return r
}
