package cluster_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/reachable"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/registry"
)

// yearScale says how much happens in a simulated year.
type yearScale struct {
	jobs int           // in the whole year
	keep int           // archived jobs that stay in the state
	tick time.Duration // between two rounds of reports
}

// TestYear runs a year of a small cluster in virtual time: machines with ever new names come and
// go, users submit jobs from ever new clients, attempts fail, are preempted and are lost, and jobs
// are archived and retired. At the end the state and its controller are as large as after a
// third of the year.
func TestYear(t *testing.T) {
	if cluster.RaceEnabled {
		t.Skip("the year is one goroutine: make test runs it without the race detector")
	}
	gate, night := yearScale{jobs: 300, keep: 20, tick: 3 * time.Hour}, yearScale{jobs: 900, keep: 60, tick: time.Hour}
	checkYear(t, playYear(t, testlevel.Choose(gate, night)))
}

// checkYear compares the end of a year with the end of its first third.
func checkYear(t *testing.T, reports []yearReport) {
	t.Helper()
	early, last := reports[len(reports)/3-1], reports[len(reports)-1]
	for _, c := range []struct {
		what        string
		early, last uint64
		slack       uint64
	}{
		{"bytes in memory", early.memory, last.memory, 32 << 10},
		{"bytes of a snapshot", early.snapshotBytes, last.snapshotBytes, 4 << 10},
		{"allocations of a snapshot", early.snapshotAllocs, last.snapshotAllocs, 200},
		{"allocations of a restart", early.restoreAllocs, last.restoreAllocs, 2000},
	} {
		if c.last > c.early+c.early/10+c.slack {
			t.Errorf("%s: %d after a third of the year, %d at its end", c.what, c.early, c.last)
		}
	}
}

// yearReport is what a cluster needs at the end of a month, when no job runs.
type yearReport struct {
	month, jobs, live         int
	started, ended            int    // attempts so far
	machines, lost            int    // machines so far, and of them lost
	memory                    uint64 // bytes of the state and the controller
	snapshotBytes             uint64
	snapshotAllocs            uint64
	restoreAllocs             uint64 // of decoding and restoring
	snapshotTime, restoreTime time.Duration
	replayed                  int // entries since the last regular snapshot
	replayTime                time.Duration
}

const (
	yearStart    = 1_700_000_000_000 // ms since the epoch
	yearMonths   = 12
	monthMillis  = 365 * 24 * 3600_000 / yearMonths
	yearMachines = 20
	yearEntries  = 8192 // log entries between two snapshots, as in a master
)

// year is a state and a controller whose log commits at once. It stores the log as a master
// does: the latest snapshot, and the batches since.
type year struct {
	t      *testing.T
	scale  yearScale
	state  *cluster.State
	brain  *control.Controller
	now    int64
	random *rand.Rand

	snapshot []byte
	log      [][]byte // encoded batches since the snapshot
	entries  int      // in log

	retained []cluster.JobID // archived jobs, oldest first
	report   yearReport      // counts so far
	leaving  []string        // machines that will leave, oldest first
	client   int             // number of the newest client
	sequence uint64          // of the newest client
}

// playYear runs a year and returns its reports, one a month.
func playYear(t *testing.T, scale yearScale) (reports []yearReport) {
	policy, err := registry.New("fair", map[string]string{"mapred.fairscheduler.preemption": "true"}, sched.Setup{Placement: sched.DefaultPlacement()})
	must.Do(t, err)
	y := &year{t: t, scale: scale, state: cluster.New("1"), now: yearStart, random: rand.New(rand.NewPCG(1, 2))}
	y.brain = control.New(y.state.View(), policy)
	y.brain.Trace(true)
	y.takeSnapshot()
	y.run(control.Leading{}, request(cluster.SetPools{Names: []string{"etl", "adhoc"}}))
	for n := range yearMachines {
		y.join(fmt.Sprintf("rack%d-host%d", n%4, n), "1")
	}
	for month := range yearMonths {
		y.month(month)
		if month < 2 {
			y.restart()
		}
		reports = append(reports, y.measure(month+1))
	}
	return reports
}

func request(c cluster.Command) control.Event { return control.Requested{Command: c} }

// month plays a month. Its last jobs end before it does.
func (y *year) month(n int) {
	end := yearStart + int64(n+1)*monthMillis
	jobs := y.scale.jobs * (n + 1) / yearMonths
	quiet := end - 3*24*3600_000
	for y.now < end {
		y.now += y.scale.tick.Milliseconds()
		left := max(1, (quiet-y.now)/y.scale.tick.Milliseconds())
		for due := float64(jobs-y.report.jobs) / float64(left); y.report.jobs < jobs && y.random.Float64() < due; due-- {
			y.submit()
		}
		y.changeMachines()
		y.run(y.reports()...)
	}
	for range 10_000 {
		if y.unfinished() == 0 {
			return
		}
		y.now += y.scale.tick.Milliseconds()
		y.run(y.reports()...)
	}
	y.t.Fatalf("%d jobs do not end in month %d", y.unfinished(), n+1)
}

func (y *year) unfinished() (n int) {
	for j := range y.state.View().Jobs() {
		if !j.State.Final() {
			n++
		}
	}
	return n
}

// run handles events and everything that follows from them.
func (y *year) run(events ...control.Event) {
	for {
		out := y.brain.Step(y.now, events)
		events = nil
		for _, o := range out.Orders {
			if o.Kind == control.OrderCopyOutput {
				events = append(events, y.copied(o))
			}
		}
		for _, w := range out.Work {
			events = append(events, y.work(w))
		}
		if len(out.Commands) > 0 {
			events = append(events, y.commit(out.Commands)...)
		}
		if len(events) == 0 {
			return
		}
	}
}

// copied answers an order to copy output or a checkpoint.
func (y *year) copied(o control.Order) control.Event {
	ev := control.OutputCopied{Attempt: o.Attempt, Machine: o.Machine}
	_, t, _, ok := y.state.View().Attempt(o.Attempt)
	switch {
	case !ok:
		ev.Problem = "the job is over"
	case t.CheckpointOf(o.Attempt) != nil:
		ev.Checkpoint = &cluster.Checkpoint{Path: "/copy/of/" + o.Attempt.String(), Bytes: 1 << 20}
	case t.Output != nil:
		ev.Segments = append(ev.Segments, t.Output.Segments...)
	}
	return ev
}

// work does what the body has to do for a job.
func (y *year) work(w control.Work) control.Event {
	switch w.Kind {
	case control.WorkCommit:
		return request(cluster.CommitJob{Job: w.Job})
	case control.WorkCleanUp:
		return request(cluster.CloseJob{Job: w.Job})
	}
	y.loadSplits(y.state, w.Job)
	if y.state.View().Job(w.Job).State == cluster.JobPrep {
		return request(cluster.StartJob{Job: w.Job})
	}
	return control.SplitsLoaded{Job: w.Job}
}

func (y *year) loadSplits(s *cluster.State, id cluster.JobID) {
	splits := make([]cluster.Split, s.View().Job(id).Spec.Graph.Stages[0].Nodes)
	for i := range splits {
		n := (i + id.Number) % yearMachines
		splits[i] = cluster.Split{
			Range: dag.Range{End: dag.Position{Offset: 128 << 20}}, Bytes: 128 << 20, Ordinal: i,
			Hosts: []string{fmt.Sprintf("rack%d-host%d", n%4, n)},
		}
	}
	must.Do(y.t, s.Load(id, splits))
}

// commit writes a batch to the log and applies it. It returns its results and what follows from
// jobs that are over: they are archived, and the oldest archived ones are retired.
func (y *year) commit(batch []cluster.Entry) []control.Event {
	data, err := cluster.EncodeEntries(batch)
	must.Do(y.t, err)
	y.log, y.entries = append(y.log, data), y.entries+len(batch)
	var done control.Applied
	var events []control.Event
	for _, e := range batch {
		delta, err := y.state.Apply(e)
		if err != nil {
			y.noteRefusal(e, err)
		}
		done.Results = append(done.Results, control.Result{Entry: e, Delta: delta, Err: err})
		y.report.started += len(delta.Started)
		y.report.ended += len(delta.Ended)
		for _, id := range delta.Jobs {
			if y.state.View().Job(id).State.Final() {
				events = append(events, request(cluster.ArchiveJob{Job: id, Summary: bytes.Repeat([]byte("s"), 300)}))
			}
		}
		y.retained = append(y.retained, delta.Archived...)
	}
	for len(y.retained) > y.scale.keep {
		events = append(events, request(cluster.RetireJob{Job: y.retained[0]}))
		y.retained = y.retained[1:]
	}
	if y.entries >= yearEntries {
		y.takeSnapshot()
	}
	return append([]control.Event{done}, events...)
}

// noteRefusal fails the test for a submission that is refused.
func (y *year) noteRefusal(e cluster.Entry, err error) {
	if c, is := e.Command.(cluster.SubmitJob); is {
		y.t.Fatalf("job of %s: %v", c.Spec.User, err)
	}
}

// submit submits a job. Most clients submit one job and end, and some send it twice.
func (y *year) submit() {
	y.sequence++
	if y.client == 0 || y.random.IntN(10) > 0 {
		y.client, y.sequence = y.client+1, 1
	}
	n, user := y.report.jobs, fmt.Sprintf("user%d", y.random.IntN(30))
	if y.random.IntN(20) == 0 {
		user = fmt.Sprintf("guest-of-job-%d", n)
	}
	spec := cluster.JobSpec{
		Name: fmt.Sprintf("report of day %d", n/24), User: user, Pool: []string{"etl", "adhoc", "default"}[n%3],
		Graph:     dag.MapReduce(20+y.random.IntN(140), y.random.IntN(20)),
		OutputDir: fmt.Sprintf("hdfs://h/out/%d", n), OutputKey: fmt.Sprintf("hdfs://h/out/%d", n),
		MaxAttempts: [2]int{4, 4}, SkipRecords: 2, SlowStartPPM: 50_000, OutageLimitMillis: 600_000, MaxMachineFailures: 3, FailureDecayMillis: 600_000,
		Speculative: [2]bool{n%2 == 0, n%4 == 0}, Document: bytes.Repeat([]byte("d"), 2000),
	}
	if n%5 == 0 {
		spec.TimeoutMillis = 4 * y.scale.tick.Milliseconds()
	}
	submission := control.Requested{Client: fmt.Sprintf("client-%08x-%d", y.client*7919, y.client), Sequence: y.sequence, Command: cluster.SubmitJob{Spec: spec}}
	y.report.jobs++
	y.run(submission)
	if y.random.IntN(10) == 0 {
		y.run(submission)
	}
}

// changeMachines lets machines join, leave and restart. Half of those that leave are drained
// before.
func (y *year) changeMachines() {
	perDay := float64(y.scale.tick) / float64(24*time.Hour)
	if y.random.Float64() < 4*perDay { // a spot machine with a name of its own
		name := fmt.Sprintf("spot-%d", y.report.machines)
		y.join(name, "1")
		y.leaving = append(y.leaving, name)
		if y.random.IntN(2) == 0 && len(y.leaving) > 8 {
			y.run(request(cluster.DrainMachine{Name: y.leaving[4], Cause: "it will be stopped"}))
		}
	}
	for len(y.leaving) > 12 {
		y.run(request(cluster.ExpireMachine{Name: y.leaving[0], Epoch: 1}))
		y.leaving = y.leaving[1:]
		y.report.lost++
	}
	if y.random.Float64() < perDay { // a tasknode restarts
		n := y.random.IntN(yearMachines)
		y.join(fmt.Sprintf("rack%d-host%d", n%4, n), fmt.Sprint(y.now))
	}
	var forget []control.Event
	for m := range y.state.View().Machines() {
		if m.MayBeForgotten() && y.now-m.LostAt > 24*3600_000 {
			forget = append(forget, request(cluster.ForgetMachine{Name: m.Name, Epoch: m.Epoch}))
		}
	}
	y.run(forget...)
}

func (y *year) join(name, instance string) {
	y.report.machines++
	rack, _, _ := strings.Cut(name, "-")
	y.run(request(cluster.JoinMachine{Name: name, Instance: instance, Address: name + ":1", HTTP: name + ":2", Rack: "/" + rack, Hosts: []string{name}, Slots: cluster.Slots{6, 2}}),
		control.MachineConnected{Name: name},
		control.MachineMeasured{Name: name, Headroom: preempt.MemHeadroom{Free: 8 << 30}})
}

// reports returns what the machines report in one tick.
func (y *year) reports() (events []control.Event) {
	for m := range y.state.View().Machines() {
		for _, a := range m.Attempts {
			if ev := y.reportOf(a); ev != nil {
				events = append(events, ev)
			}
		}
	}
	return events
}

// reportOf returns what the tasknode of an attempt reports of it; nil for nothing.
func (y *year) reportOf(a *cluster.Attempt) control.Event {
	j, stage, t, _ := y.state.View().Task(a.ID.Task)
	for up := range stage.Upstream() {
		if a.Active() && !a.Preempting() && !up.Complete() {
			return control.AttemptProgressed{Attempt: a.ID, Mark: y.random.Uint64(), Fraction: y.random.Float64() / 3, Fetched: []control.EdgeFetched{{Nodes: make([]byte, 20)}}}
		}
	}
	dice := y.random.IntN(1000)
	switch {
	case !a.Active():
		return control.AttemptExited{Attempt: a.ID}
	case a.Suspended():
		return nil
	case a.Preempting() && dice < 700:
		return request(cluster.CheckpointAttempt{Attempt: a.ID, Checkpoint: cluster.Checkpoint{Path: "/local/" + a.ID.String() + "/checkpoint", Bytes: 1 << 20}})
	case a.Preempting():
		return control.PreemptionDeclined{Attempt: a.ID, Cause: "its state is too large", CanSuspend: dice < 850}
	case dice < 100:
		return control.AttemptProgressed{Attempt: a.ID, Mark: y.random.Uint64(), Fraction: y.random.Float64(), Memory: 1 << 28}
	case dice < 120:
		mode := []preempt.Mode{preempt.Checkpoint, preempt.Split, preempt.Suspend, preempt.Kill}[dice%4]
		return request(cluster.PreemptAttempt{Attempt: a.ID, Mode: mode, Cause: "another job needs the slot"})
	case dice < 140:
		return y.failureOf(j, a, dice)
	case dice < 142:
		return control.AttemptExited{Attempt: a.ID, Cause: "its machine is short of memory"}
	}
	out := cluster.Manifest{Bytes: 1 << 20, Records: 1000}
	if len(j.Spec.Graph.Stages) > 1 && len(t.ID.Stage) > 0 && stage.Source {
		out.Segments = []cluster.Segments{{Node: t.ID.Number, Path: "/local/" + a.ID.String() + "/segments", IndexChecksum: y.random.Uint64()}}
	} else {
		out.Pieces = []cluster.Piece{{Output: "part", Path: j.Spec.OutputDir + "/_temporary/" + j.ID.String() + "/" + a.ID.String() + ".part.000", Length: 100, Part: t.Part, Stage: stage.Nodes[0]}}
	}
	var counters []cluster.Counter
	for n := range 12 {
		counters = append(counters, cluster.Counter{CounterName: cluster.CounterName{Group: "TaskCounter", Name: fmt.Sprintf("COUNTER_%d", n)}, Value: int64(dice)})
	}
	return control.AttemptFinished{Attempt: a.ID, Range: t.Range, Output: out, Counters: counters}
}

// failureOf returns one of several kinds of failures.
func (y *year) failureOf(j *cluster.Job, a *cluster.Attempt, dice int) control.Event {
	f := control.AttemptFailed{Attempt: a.ID, Failure: cluster.Failure{Cause: "bad record", Stack: strings.Repeat("frame\n", 100), Log: strings.Repeat("line\n", 400), Offset: 7}}
	switch dice % 4 {
	case 0:
		f.Failure.Record = &dag.Position{Offset: int64(dice)}
	case 1:
		f.LostOutput, f.Unreached = cluster.AttemptID{Task: cluster.TaskID{Job: j.ID, Stage: j.Stages[0].Code, Number: dice % len(j.Stages[0].Tasks)}}, dice%8 == 1
	case 2:
		f.StorageDown = dice%8 == 2
	}
	return f
}

// encode returns the present snapshot as a file.
func (y *year) encode() []byte {
	var b bytes.Buffer
	must.Do(y.t, y.state.Snapshot().Encode(&b))
	return b.Bytes()
}

// takeSnapshot writes a snapshot, which replaces the log.
func (y *year) takeSnapshot() { y.snapshot, y.log, y.entries = y.encode(), nil, 0 }

// restored returns the state that a master has after its restart: the snapshot, and the log
// since.
func (y *year) restored() *cluster.State {
	s := y.decode(y.snapshot)
	for _, data := range y.log {
		batch, err := cluster.DecodeEntries(data)
		must.Do(y.t, err)
		for _, e := range batch {
			_, _ = s.Apply(e) // refused entries are in the log too
		}
	}
	must.Do(y.t, s.CheckInvariants())
	return s
}

func (y *year) decode(data []byte) *cluster.State {
	s, err := cluster.DecodeSnapshot(bytes.NewReader(data))
	must.Do(y.t, err)
	return s
}

// restart replaces the master by one that has restored its state and leads.
func (y *year) restart() {
	before := y.encode()
	y.state = y.restored()
	if !bytes.Equal(y.encode(), before) {
		y.t.Fatal("the snapshot and the log give another state")
	}
	policy, err := registry.New("fair", map[string]string{"mapred.fairscheduler.preemption": "true"}, sched.Setup{Placement: sched.DefaultPlacement()})
	must.Do(y.t, err)
	y.brain = control.New(y.state.View(), policy)
	y.brain.Trace(true)
	y.run(control.Leading{})
}

// measure compares a restarted master with this one and reports what both need.
func (y *year) measure(month int) yearReport {
	r := y.report
	r.month, r.replayed = month, y.entries
	for range y.state.View().Jobs() {
		r.live++
	}
	begin := time.Now()
	twin := y.restored()
	r.replayTime = time.Since(begin)
	y.takeSnapshot()
	begin = time.Now()
	r.snapshotAllocs = allocations(func() { y.snapshot = y.encode() })
	r.snapshotTime, r.snapshotBytes = time.Since(begin), uint64(len(y.snapshot))
	var copied *cluster.State
	begin = time.Now()
	r.restoreAllocs = allocations(func() { copied = y.decode(y.snapshot) })
	r.restoreTime = time.Since(begin)
	own := y.state
	for _, y.state = range []*cluster.State{twin, copied} {
		if !bytes.Equal(y.encode(), y.snapshot) {
			y.t.Fatalf("month %d: a restarted master has another state", month)
		}
	}
	y.state = own
	r.memory = reachable.Bytes(y.state, y.brain)
	return r
}

// allocations returns how many objects a function allocates.
func allocations(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.Mallocs - before.Mallocs
}
