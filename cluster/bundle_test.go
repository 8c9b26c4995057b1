package cluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
)

// gangGraph has gangs of two tasks each: one task of stage a and one of b. Stage c reads
// their files.
func gangGraph(gangs int) dag.Graph {
	return dag.Graph{
		Stages: []dag.Stage{{Name: "a", Nodes: gangs}, {Name: "b", Nodes: gangs}, {Name: "c", Nodes: 1, Slots: dag.SlotMap}},
		Edges: []dag.Edge{
			{From: "a", To: "b", Channel: dag.ChannelTCP, Connection: dag.OneToOne},
			{From: "b", To: "c"},
		},
	}
}

// running returns a cluster of three machines with a running job of the graph.
func running(t testing.TB, g dag.Graph) (*State, *Job) {
	t.Helper()
	s := New("1")
	spec := submit(0, 0)
	spec.Spec.Graph = g
	mustApply(t, s, JoinMachine{Name: "n0", Hosts: []string{"n0"}, Slots: Slots{4, 4}}, JoinMachine{Name: "n1", Slots: Slots{2, 2}}, JoinMachine{Name: "n2", Slots: Slots{1, 1}}, spec)
	loadSplits(s)
	mustApply(t, s, StartJob{job1})
	return s, s.jobs[0]
}

// bundleStart returns the command that starts the waiting tasks of a bundle, on the machines
// in turn.
func bundleStart(j *Job, class, number int, machines ...string) StartBundle {
	c := StartBundle{Job: j.ID, Class: class, Number: number}
	tasks := j.Bundles[class].TasksOf(number)
	if waiting := j.Bundles[class].WaitingIn(number); len(waiting) > 0 {
		tasks = waiting
	}
	for i, t := range tasks {
		start := StartAttempt{Task: t.ID, Machine: machines[i%len(machines)]}
		if t.Split >= 0 {
			start.Range = j.RangeOf(t)
		}
		c.Starts = append(c.Starts, start)
	}
	return c
}

// newest returns the last attempt at a task.
func newest(j *Job, stage, number int) AttemptID {
	t := j.Stages[stage].Tasks[number]
	return t.Attempts[len(t.Attempts)-1].ID
}

// finishTask finishes the newest attempt, which has written a file.
func finishTask(j *Job, stage, number int) Command {
	return FinishAttempt{
		Attempt: newest(j, stage, number), Range: j.Stages[stage].Tasks[number].Range,
		Output: segmentsOf(j, j.Stages[stage], number), Counters: []Counter{{CounterName{"g", "n"}, 1}},
	}
}

// segmentsOf returns a file for each edge that a task writes.
func segmentsOf(j *Job, stage *Stage, number int) (m Manifest) {
	for i, e := range j.Spec.Graph.Edges {
		if e.Channel == dag.ChannelFile && e.FilesOf == "" && j.StageOf(e.From) == stage {
			m.Segments = append(m.Segments, Segments{Edge: i, Node: number, Path: "p"})
		}
	}
	return m
}

// states lists the states of all tasks, stage by stage.
func states(j *Job) string {
	var stages []string
	for _, s := range j.Stages {
		var tasks []string
		for _, t := range s.Tasks {
			tasks = append(tasks, t.State.String())
		}
		stages = append(stages, strings.Join(tasks, " "))
	}
	return strings.Join(stages, " | ")
}

func wantStates(t *testing.T, j *Job, want string) {
	t.Helper()
	if got := states(j); got != want {
		t.Errorf("tasks are %s, want %s", got, want)
	}
}

// wantRefused applies a command that must be refused and change nothing.
func wantRefused(t *testing.T, s *State, want string, c Command) {
	t.Helper()
	before := dump(s)
	if _, err := s.Apply(Entry{At: 9, Command: c}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%T %+v: %v, want %q", c, c, err, want)
	}
	if dump(s) != before {
		t.Errorf("%T %+v changed the state", c, c)
	}
}

func TestGangsStartWholeOrNotAtAll(t *testing.T) {
	s, j := running(t, gangGraph(3))
	if got := j.WaitingBundles(j.Bundles[0]); !slices.Equal(got, []int{0, 1, 2}) {
		t.Errorf("bundles %v wait", got)
	}
	good := bundleStart(j, 0, 1, "n0", "n1")
	wantRefused(t, s, "starts with its bundle", good.Starts[0])
	for want, change := range map[string]func(c *StartBundle){
		"not found":                 func(c *StartBundle) { c.Job.Number = 2 },
		"has no bundles of class 2": func(c *StartBundle) { c.Class = 2 },
		"0 tasks of bundle 3":       func(c *StartBundle) { c.Number = 3 },
		"0 tasks of bundle -1":      func(c *StartBundle) { c.Number = -1 },
		"1 starts for 2 tasks":      func(c *StartBundle) { c.Starts = c.Starts[:1] },
		"twice or not at all":       func(c *StartBundle) { c.Starts[1] = c.Starts[0] },
		"bundle 0 twice":            func(c *StartBundle) { c.Number = 0 },
		`machine "n9"`:              func(c *StartBundle) { c.Starts[1].Machine = "n9" },
		"reads no split":            func(c *StartBundle) { c.Starts[0].Range = whole },
		"task_1_0001_s1_000007":     func(c *StartBundle) { c.Starts[1].Task.Number = 7 },
		"class -1":                  func(c *StartBundle) { c.Class = -1 },
	} {
		bad := good
		bad.Starts = slices.Clone(good.Starts)
		change(&bad)
		wantRefused(t, s, want, bad)
	}
	delta := apply(t, s, good)
	if len(delta.Started) != 2 || j.Bundles[0].Incarnation(1) != 1 || j.Bundles[0].Incarnation(0) != 0 {
		t.Errorf("started %v as incarnation %d", delta.Started, j.Bundles[0].Incarnation(1))
	}
	wantRefused(t, s, "is RUNNING", good)
	wantStates(t, j, "PENDING RUNNING PENDING | PENDING RUNNING PENDING | PENDING")
	if got := j.WaitingBundles(j.Bundles[0]); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("bundles %v wait", got)
	}
	if used := s.byName["n0"].Used; used != (Slots{1, 0}) || s.byName["n1"].Used != (Slots{0, 1}) {
		t.Errorf("slots used: %v, %v", used, s.byName["n1"].Used)
	}
}

// TestGangsNeedAllTheirSlotsAtOnce starts a gang that does not fit, although each of its
// tasks fits alone.
func TestGangsNeedAllTheirSlotsAtOnce(t *testing.T) {
	g := gangGraph(3)
	g.Edges[0].Connection = dag.AllToAll
	s, j := running(t, g)
	wantRefused(t, s, "no free map slot on n1", bundleStart(j, 0, 0, "n1"))
	wantRefused(t, s, "no free reduce slot on n1", bundleStart(j, 0, 0, "n0", "n0", "n0", "n1", "n1", "n1"))
	apply(t, s, bundleStart(j, 0, 0, "n0", "n0", "n0", "n1", "n1", "n0"))
}

func TestOutputOfAGangCountsWhenAllHaveFinished(t *testing.T) {
	s, j := running(t, gangGraph(2))
	apply(t, s, bundleStart(j, 0, 0, "n0"), bundleStart(j, 0, 1, "n1"))
	for i, step := range []struct {
		stage, number, published int
		complete                 bool
	}{{1, 0, 0, false}, {1, 1, 0, false}, {0, 0, 2, false}, {0, 1, 2, true}} {
		delta := apply(t, s, finishTask(j, step.stage, step.number))
		if len(delta.Published) != step.published || j.EdgeComplete(1) != step.complete {
			t.Errorf("step %d: published %v, edge complete: %v", i, delta.Published, j.EdgeComplete(1))
		}
		if want := step.published > 0; j.Published(j.Stages[1].Tasks[step.number]) != want {
			t.Errorf("step %d: published is not %v", i, want)
		}
		if j.Ready(j.Stages[2]) != step.complete {
			t.Errorf("step %d: the reader, which takes slots that writers need, is ready: %v", i, !step.complete)
		}
	}
}

func TestGangStartsOverWhenAMemberEnds(t *testing.T) {
	for name, end := range map[string]func(j *Job) Command{
		"failed":  func(j *Job) Command { return FailAttempt{Attempt: newest(j, 0, 0), Failure: Failure{Cause: "bad"}} },
		"killed":  func(j *Job) Command { return KillAttempt{Attempt: newest(j, 0, 0), Cause: "enough"} },
		"gone":    func(j *Job) Command { return ExitAttempt{Attempt: newest(j, 0, 0), Cause: "gone"} },
		"expired": func(*Job) Command { return ExpireMachine{Name: "n0", Epoch: 1} },
		"wrong range": func(j *Job) Command {
			return FinishAttempt{Attempt: newest(j, 0, 0), Range: dag.Range{End: dag.Position{Offset: 1}}}
		},
	} {
		for _, finished := range []bool{false, true} {
			s, j := running(t, gangGraph(2))
			apply(t, s, bundleStart(j, 0, 0, "n0", "n1"), bundleStart(j, 0, 1, "n1"))
			other := newest(j, 1, 0)
			if finished {
				apply(t, s, finishTask(j, 1, 0))
			}
			delta := apply(t, s, end(j))
			if finished != slices.Contains(delta.Revoked, other) || finished == slices.Contains(delta.OrdersChanged, other) {
				t.Errorf("%s: revoked %v, asked %v", name, delta.Revoked, delta.OrdersChanged)
			}
			wantStates(t, j, "PENDING RUNNING | PENDING RUNNING | PENDING")
			if got := j.Counters(j.Stages...); len(got) > 0 && got[0].Value != 0 {
				t.Errorf("%s: what counts no more is counted: %v", name, got)
			}
			if cause := j.Stages[1].Tasks[0].Attempts[0].Cause; !strings.Contains(cause, "its gang starts over, since task_1_0001_s0_000000 ended") {
				t.Errorf("%s: the other ended because %q", name, cause)
			}
			if j.Stages[1].Tasks[0].Charged != 0 || j.Stages[0].Tasks[0].Charged != map[bool]int{true: 1}[name == "failed"] {
				t.Errorf("%s: charged %d and %d", name, j.Stages[0].Tasks[0].Charged, j.Stages[1].Tasks[0].Charged)
			}
			apply(t, s, bundleStart(j, 0, 0, "n2"))
			if n := j.Bundles[0].Incarnation(0); n != 2 || j.Bundles[0].Incarnation(1) != 1 {
				t.Errorf("%s: incarnation %d", name, n)
			}
		}
	}
}

// TestLateReportOfAnEndedGangIsIgnored finishes an attempt after its gang was rolled
// back.
func TestLateReportOfAnEndedGangIsIgnored(t *testing.T) {
	s, j := running(t, gangGraph(1))
	apply(t, s, bundleStart(j, 0, 0, "n0"))
	late := finishTask(j, 1, 0)
	apply(t, s, FailAttempt{Attempt: newest(j, 0, 0), Failure: Failure{Cause: "bad"}}, bundleStart(j, 0, 0, "n1"))
	if delta := apply(t, s, late); len(delta.Freed) != 1 || len(delta.Published) != 0 {
		t.Errorf("freed %v, published %v", delta.Freed, delta.Published)
	}
	wantStates(t, j, "RUNNING | RUNNING | PENDING")
}

func TestLostOutputOfAGangMakesItRunAgainAndNoOther(t *testing.T) {
	for name, lose := range map[string]func(j *Job) Command{
		"one output": func(j *Job) Command { return LoseOutput{newest(j, 1, 0), "unreadable"} },
		"a machine":  func(*Job) Command { return ExpireMachine{Name: "n1", Epoch: 1} },
		"a restart":  func(j *Job) Command { return JoinMachine{Name: "n1", Instance: "second", Slots: Slots{2, 2}} },
	} {
		s, j := running(t, gangGraph(2))
		apply(t, s, bundleStart(j, 0, 0, "n0", "n1"), bundleStart(j, 0, 1, "n0"))
		for _, at := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
			apply(t, s, finishTask(j, at[0], at[1]))
		}
		lost := newest(j, 1, 0)
		delta := apply(t, s, lose(j))
		if len(delta.Revoked) != 2 || !slices.Contains(delta.Revoked, lost) || j.EdgeComplete(1) {
			t.Errorf("%s: revoked %v, complete %v", name, delta.Revoked, j.EdgeComplete(1))
		}
		wantStates(t, j, "PENDING SUCCEEDED | PENDING SUCCEEDED | PENDING")
		if got := j.Counters(j.Stages...); got[0].Value != 2 {
			t.Errorf("%s: counters are %v", name, got)
		}
		if err := outputComesBack(s, lost); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: what is back of a gang is taken: %v", name, err)
		}
	}
}

// outputComesBack restores the output of an attempt on n1.
func outputComesBack(s *State, a AttemptID) error {
	if _, err := s.Apply(Entry{At: 9, Command: JoinMachine{Name: "n1", Instance: "third", Slots: Slots{2, 2}}}); err != nil {
		return err
	}
	_, err := s.Apply(Entry{At: 9, Command: RestoreOutput{Attempt: a}})
	return err
}

// TestOutputOfAGangRetainedByARestartedTasknodeStays restarts a tasknode that retains the output of
// a whole gang.
func TestOutputOfAGangRetainedByARestartedTasknodeStays(t *testing.T) {
	s, j := running(t, gangGraph(1))
	apply(t, s, bundleStart(j, 0, 0, "n1"))
	apply(t, s, finishTask(j, 0, 0), finishTask(j, 1, 0))
	delta := apply(t, s, JoinMachine{Name: "n1", Instance: "second", Slots: Slots{2, 2}, Retained: []AttemptID{newest(j, 0, 0), newest(j, 1, 0)}})
	if wantStates(t, j, "SUCCEEDED | SUCCEEDED | PENDING"); len(delta.Revoked) > 0 {
		t.Errorf("revoked %v", delta.Revoked)
	}
}

// TestAGangNeedsWhatItHasReadUntilAllHaveFinished loses the machine with the input of a gang
// after one attempt has read it. The input is written again only when the gang has to start
// over.
func TestAGangNeedsWhatItHasReadUntilAllHaveFinished(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: 1}, {Name: "a", Nodes: 1}, {Name: "b", Nodes: 1}},
		Edges:  []dag.Edge{{From: "map", To: "a"}, {From: "a", To: "b", Channel: dag.ChannelTCP}},
	}
	s, j := running(t, g)
	apply(t, s, StartAttempt{Task: mapTask(0), Machine: "n1", Range: whole})
	apply(t, s, finishTask(j, 0, 0), bundleStart(j, 1, 0, "n0"))
	apply(t, s, finishTask(j, 1, 0), ExpireMachine{Name: "n1", Epoch: 1})
	wantStates(t, j, "SUCCEEDED | SUCCEEDED | RUNNING")
	apply(t, s, FailAttempt{Attempt: attemptAt(j.Stages[2].Tasks[0].ID, 0)})
	wantStates(t, j, "PENDING | PENDING | PENDING")
}

func TestGangsThatFailTooOftenFailTheirJob(t *testing.T) {
	s, j := running(t, gangGraph(2))
	apply(t, s, bundleStart(j, 0, 1, "n1"))
	for n := range 2 {
		apply(t, s, bundleStart(j, 0, 0, "n0"))
		apply(t, s, ExitAttempt{Attempt: newest(j, 1, 0)}, ExitAttempt{Attempt: newest(j, 0, 0)}, bundleStart(j, 0, 0, "n0"))
		if j.State != JobRunning {
			t.Fatalf("after %d failures and %d other ends the job is %v", n, n+1, j.State)
		}
		apply(t, s, FailAttempt{Attempt: newest(j, 1, 0), Failure: Failure{Cause: "bad"}}, ExitAttempt{Attempt: newest(j, 0, 0)})
	}
	if j.State != JobAborting || !strings.Contains(j.Cause, "task_1_0001_s1_000000 failed 2 times, at last: bad") {
		t.Errorf("the job is %v since %q", j.State, j.Cause)
	}
	wantStates(t, j, "KILLED KILLED | FAILED KILLED | KILLED")
}

func TestAKilledJobEndsItsGangs(t *testing.T) {
	s, j := running(t, gangGraph(2))
	apply(t, s, bundleStart(j, 0, 0, "n0"))
	apply(t, s, finishTask(j, 1, 0))
	delta := apply(t, s, KillJob{job1, "enough"})
	if len(delta.OrdersChanged) != 1 || delta.OrdersChanged[0] != newest(j, 0, 0) {
		t.Errorf("asked %v", delta.OrdersChanged)
	}
	wantStates(t, j, "KILLED KILLED | SUCCEEDED KILLED | KILLED")
	apply(t, s, ExitAttempt{Attempt: newest(j, 0, 0)}, CloseJob{job1})
}

// TestAJobIsDoneWhenItsOutputIs checks that a job commits when its output is complete, even
// if a task of a gang has not finished.
func TestAJobIsDoneWhenItsOutputIs(t *testing.T) {
	g := gangGraph(1)
	g.Stages, g.Edges = g.Stages[:2], g.Edges[:1]
	s, j := running(t, g)
	apply(t, s, bundleStart(j, 0, 0, "n0"))
	apply(t, s, finishTask(j, 1, 0))
	if wantStates(t, j, "KILLED | SUCCEEDED"); j.State != JobCommitting {
		t.Errorf("the job is %v", j.State)
	}
}

func TestSnapshotsOfGangsInEveryState(t *testing.T) {
	s, j := running(t, gangGraph(2))
	check := func(when string) {
		t.Helper()
		data := encoded(t, s)
		twin := restored(t, data)
		loadSplits(twin)
		if dump(twin) != dump(s) || fmt.Sprint(encoded(t, twin)) != fmt.Sprint(data) {
			t.Fatalf("%s: the copy is\n%s, want\n%s", when, dump(twin), dump(s))
		}
		for n := range 2 {
			if got, want := twin.jobs[0].Bundles[0].Incarnation(n), j.Bundles[0].Incarnation(n); got != want {
				t.Errorf("%s: bundle %d is of incarnation %d, want %d", when, n, got, want)
			}
		}
		if got, want := twin.jobs[0].WaitingBundles(twin.jobs[0].Bundles[0]), j.WaitingBundles(j.Bundles[0]); !slices.Equal(got, want) {
			t.Errorf("%s: bundles %v wait, want %v", when, got, want)
		}
	}
	check("waiting")
	apply(t, s, bundleStart(j, 0, 1, "n0", "n1"))
	check("running")
	apply(t, s, finishTask(j, 1, 1))
	check("half finished")
	apply(t, s, FailAttempt{Attempt: newest(j, 0, 1), Failure: Failure{Cause: "bad"}})
	check("broken up")
	apply(t, s, bundleStart(j, 0, 1, "n0"))
	apply(t, s, finishTask(j, 1, 1), finishTask(j, 0, 1))
	check("finished")
	apply(t, s, LoseOutput{newest(j, 1, 1), "unreadable"})
	check("lost")
	apply(t, s, KillJob{job1, "enough"})
	check("killed")
}
