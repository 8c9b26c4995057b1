package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
)

var (
	firstReduce  = TaskID{job1, "r", 0}
	secondReduce = TaskID{job1, "r", 1}
)

// losses are the ways in which machine a loses its output.
var losses = map[string]func(Fetched) Command{
	"lost":      func(f Fetched) Command { return ExpireMachine{Name: "a", Epoch: 1, Fetched: f} },
	"restarted": func(f Fetched) Command { return joinWith(f, joinOf("a", "2")) },
}

func joinWith(f Fetched, c JoinMachine) Command {
	c.Fetched = f
	return c
}

// fetching returns a job of two maps, finished on a and b, and two reduces that run on c and
// d.
func fetching(t *testing.T) *State {
	t.Helper()
	s := New("1")
	apply(t, s, joinOf("a", "1"), joinOf("b", "1"), joinOf("c", "1"), joinOf("d", "1"), submit(2, 2), StartJob{job1},
		StartAttempt{Task: mapTask(0), Machine: "a"}, StartAttempt{Task: mapTask(1), Machine: "b"})
	finish(t, s, mapTask(0), 0)
	finish(t, s, mapTask(1), 0)
	apply(t, s, StartAttempt{Task: firstReduce, Machine: "c"}, StartAttempt{Task: secondReduce, Machine: "d"})
	return s
}

// spared returns the state of fetching after machine a has lost its output, which both
// reduces have fetched.
func spared(t *testing.T, lose func(Fetched) Command) *State {
	t.Helper()
	s := fetching(t)
	delta := apply(t, s, lose(fetchedBy(attemptAt(firstReduce, 0), attemptAt(secondReduce, 0))))
	if len(delta.Revoked) != 0 {
		t.Errorf("revoked %v", delta.Revoked)
	}
	wantSpared(t, s)
	return s
}

// fetchedBy reports that readers have the output of the first map.
func fetchedBy(readers ...AttemptID) Fetched {
	return Fetched{Outputs: []AttemptID{attemptAt(mapTask(0), 0)}, Readers: readers}
}

func wantSpared(t *testing.T, s *State) {
	t.Helper()
	wantTask(t, s, mapTask(0), TaskSucceeded, 0)
	if gone := slices.Collect(s.jobs[0].Stages[0].LostUnneeded()); len(gone) != 1 || !gone[0].Winner.Lost() {
		t.Errorf("gone are %v", gone)
	}
}

// TestFetchedOutputRunsAgainWhenItIsNeeded checks all ways in which a reduce loses its
// fetched input, and events that do not affect it.
func TestFetchedOutputRunsAgainWhenItIsNeeded(t *testing.T) {
	r := attemptAt(firstReduce, 0)
	second := attemptAt(firstReduce, 1)
	saved := CheckpointAttempt{Attempt: r, Checkpoint: Checkpoint{Path: "c"}}
	copied := CheckpointAttempt{Attempt: r, Checkpoint: Checkpoint{Path: "c", Copy: copyOf(r)}}
	resumed := StartAttempt{Task: firstReduce, Machine: "c"}
	for name, c := range map[string]struct {
		commands []Command
		again    bool
	}{
		"nothing happens":              {nil, false},
		"it fails":                     {[]Command{FailAttempt{Attempt: r}}, true},
		"it fails and stays":           {[]Command{FailAttempt{Attempt: r, OnMachine: true}}, true},
		"it is killed":                 {[]Command{KillAttempt{Attempt: r}}, true},
		"it is killed for another":     {[]Command{PreemptAttempt{Attempt: r, Mode: preempt.Kill}}, true},
		"it ends":                      {[]Command{ExitAttempt{Attempt: r}}, true},
		"it is lost":                   {[]Command{ExpireMachine{Name: "c", Epoch: 1}}, true},
		"its tasknode restarts":        {[]Command{joinOf("c", "2")}, true},
		"it is suspended":              {[]Command{PreemptAttempt{Attempt: r, Mode: preempt.Suspend}, ResumeAttempt{r}}, false},
		"it declines to checkpoint":    {[]Command{PreemptAttempt{Attempt: r, Mode: preempt.Checkpoint}, DeclinePreemption{r}}, false},
		"it is checkpointed":           {[]Command{saved}, false},
		"it resumes":                   {[]Command{saved, resumed}, false},
		"it resumes and fails":         {[]Command{saved, resumed, FailAttempt{Attempt: second}}, false},
		"its checkpoint is bad":        {[]Command{saved, resumed, FailAttempt{Attempt: second, BadCheckpoint: true}}, true},
		"its checkpoint is lost":       {[]Command{saved, ExpireMachine{Name: "c", Epoch: 1}}, true},
		"the copy of that is left":     {[]Command{copied, ExpireMachine{Name: "c", Epoch: 1}}, false},
		"it is lost as it resumes":     {[]Command{saved, resumed, ExpireMachine{Name: "c", Epoch: 1}}, true},
		"it finishes":                  {[]Command{FinishAttempt{Attempt: r}}, false},
		"the other one fails":          {[]Command{FinishAttempt{Attempt: r}, FailAttempt{Attempt: attemptAt(secondReduce, 0)}}, true},
		"the output cannot be read":    {[]Command{LoseOutput{Attempt: attemptAt(mapTask(0), 0)}}, true},
		"the job is suspended":         {[]Command{SuspendJob{Job: job1}, saved, ResumeJob{job1}}, false},
		"the other machine is lost":    {[]Command{ExpireMachine{Name: "b", Epoch: 1}}, false},
		"its machine is drained":       {[]Command{DrainMachine{Name: "c", Cause: "away"}}, false},
		"the machine comes back empty": {[]Command{joinOf("a", "2")}, false},
	} {
		for mode, lose := range losses {
			t.Run(mode+", "+name, func(t *testing.T) {
				s := spared(t, lose)
				apply(t, s, c.commands...)
				if !c.again {
					wantSpared(t, s)
					return
				}
				wantTask(t, s, mapTask(0), TaskPending, -1)
				if a := s.jobs[0].Stages[0].Tasks[0].Attempts[0]; !a.Lost() || a.Status() != StatusKilled || a.Cause == "" {
					t.Errorf("%v is %v, lost: %v, because %q", a.ID, a.State, a.Lost(), a.Cause)
				}
			})
		}
	}
}

// TestUnfetchedOutputRunsAgain loses a machine when not all readers have
// fetched its output.
func TestUnfetchedOutputRunsAgain(t *testing.T) {
	r, other := attemptAt(firstReduce, 0), attemptAt(secondReduce, 0)
	for name, c := range map[string]struct {
		before  []Command
		fetched Fetched
		again   bool
	}{
		"no reader has it":    {nil, Fetched{}, true},
		"one has it":          {nil, fetchedBy(r), true},
		"all have another":    {nil, Fetched{Outputs: []AttemptID{attemptAt(mapTask(1), 0)}, Readers: []AttemptID{r, other}}, true},
		"all have it":         {nil, fetchedBy(r, other), false},
		"the rest is done":    {[]Command{FinishAttempt{Attempt: other}}, fetchedBy(r), false},
		"it has failed since": {[]Command{FailAttempt{Attempt: r}, StartAttempt{Task: firstReduce, Machine: "c"}}, fetchedBy(r, other), true},
		"it is checkpointed with it": {
			[]Command{CheckpointAttempt{Attempt: r}}, fetchedBy(r, other), false,
		},
		"it is checkpointed without it": {[]Command{CheckpointAttempt{Attempt: r}}, fetchedBy(other), true},
		"tried twice, one has it":       {[]Command{SpeculateTask{firstReduce, "b"}}, fetchedBy(r, other), true},
		"tried twice, both have it": {
			[]Command{SpeculateTask{firstReduce, "b"}}, fetchedBy(r, attemptAt(firstReduce, 1), other), false,
		},
	} {
		for mode, lose := range losses {
			t.Run(mode+", "+name, func(t *testing.T) {
				s := fetching(t)
				apply(t, s, c.before...)
				apply(t, s, lose(c.fetched))
				if c.again {
					wantTask(t, s, mapTask(0), TaskPending, -1)
				} else {
					wantSpared(t, s)
				}
			})
		}
	}
}

// TestRetainedOutputIsNotLost restarts a tasknode that retains the output of its map, or the
// checkpoint of a reduce that has fetched lost output.
func TestRetainedOutputIsNotLost(t *testing.T) {
	r, other := attemptAt(firstReduce, 0), attemptAt(secondReduce, 0)
	s := fetching(t)
	apply(t, s, joinWith(fetchedBy(r, other), joinOf("a", "2", attemptAt(mapTask(0), 0))))
	wantTask(t, s, mapTask(0), TaskSucceeded, 0)
	if w := s.jobs[0].Stages[0].Tasks[0].Winner; w.Lost() {
		t.Errorf("%v is found and lost", w.ID)
	}
	for _, retained := range []bool{false, true} {
		s := New("1")
		apply(t, s, joinOf("a", "1"), submit(1, 1), StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "a"})
		finish(t, s, mapTask(0), 0)
		apply(t, s, StartAttempt{Task: firstReduce, Machine: "a"}, CheckpointAttempt{Attempt: r})
		if !retained {
			apply(t, s, joinWith(fetchedBy(r), joinOf("a", "2")))
			wantTask(t, s, mapTask(0), TaskPending, -1)
			continue
		}
		apply(t, s, joinWith(fetchedBy(r), joinOf("a", "2", r)))
		wantSpared(t, s)
	}
}

// TestUsedCheckpointMayMissInput resumes a reduce from a checkpoint, lets it
// fetch more, and makes it fall back to the checkpoint.
func TestUsedCheckpointMayMissInput(t *testing.T) {
	for _, fetched := range []bool{false, true} {
		s := New("1")
		r, second := attemptAt(firstReduce, 0), attemptAt(firstReduce, 1)
		apply(t, s, joinOf("a", "1"), joinOf("b", "1"), submit(1, 1), StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "a"})
		finish(t, s, mapTask(0), 0)
		apply(t, s, StartAttempt{Task: firstReduce, Machine: "b"}, CheckpointAttempt{Attempt: r}, StartAttempt{Task: firstReduce, Machine: "b"})
		readers := []AttemptID{second}
		if fetched {
			readers = []AttemptID{r, second}
		}
		apply(t, s, ExpireMachine{Name: "a", Epoch: 1, Fetched: fetchedBy(readers...)})
		wantSpared(t, s)
		apply(t, s, FailAttempt{Attempt: second})
		if fetched {
			wantSpared(t, s)
		} else {
			wantTask(t, s, mapTask(0), TaskPending, -1)
		}
	}
}

// TestLostOutputIsFoundAgain restores lost output, by its machine or a copy, and then loses
// the reduce that had fetched it.
func TestLostOutputIsFoundAgain(t *testing.T) {
	for name, back := range map[string]Command{
		"its machine":            joinOf("a", "1", attemptAt(mapTask(0), 0)),
		"its machine, restarted": joinOf("a", "2", attemptAt(mapTask(0), 0)),
		"a copy somewhere else":  MoveOutput{Attempt: attemptAt(mapTask(0), 0), Machine: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spared(t, losses["lost"])
			apply(t, s, back, FailAttempt{Attempt: attemptAt(firstReduce, 0)})
			wantTask(t, s, mapTask(0), TaskSucceeded, 0)
			if a := s.jobs[0].Stages[0].Tasks[0].Attempts[0]; a.Lost() {
				t.Errorf("%v is still lost", a.ID)
			}
		})
	}
}

func TestReaderOfLostOutputIsNotTriedTwice(t *testing.T) {
	s := spared(t, losses["lost"])
	if _, err := s.Apply(Entry{Command: SpeculateTask{firstReduce, "b"}}); !errors.Is(err, ErrRefused) {
		t.Errorf("a second attempt that cannot read all: %v", err)
	}
	apply(t, s, joinOf("a", "1", attemptAt(mapTask(0), 0)), SpeculateTask{firstReduce, "b"})
}

func TestFetchedOutOfOrderIsRefused(t *testing.T) {
	s := fetching(t)
	for mode, lose := range losses {
		c := lose(fetchedBy(attemptAt(secondReduce, 0), attemptAt(firstReduce, 0)))
		if _, err := s.Apply(Entry{Command: c}); !errors.Is(err, ErrRefused) {
			t.Errorf("%s, attempts out of order: %v", mode, err)
		}
	}
}

// TestLostOutputRunsAgainInChains needs the output of the last of three stages again. Its
// tasks need the output of the first stage, which no task needed when it was lost.
func TestLostOutputRunsAgainInChains(t *testing.T) {
	g := dag.Graph{
		Stages: []dag.Stage{{Name: "map", Nodes: 2}, {Name: "mid", Nodes: 2, Slots: dag.SlotMap}, {Name: "top", Nodes: 1}},
		Edges:  []dag.Edge{{From: "map", To: "mid", Connection: dag.OneToOne}, {From: "mid", To: "top"}},
	}
	s, j := running(t, g)
	for n := range 2 {
		apply(t, s, StartAttempt{Task: j.Stages[0].Tasks[n].ID, Machine: "n1", Range: whole})
		apply(t, s, finishTask(j, 0, n))
	}
	for n := range 2 {
		apply(t, s, StartAttempt{Task: j.Stages[1].Tasks[n].ID, Machine: "n0"})
		apply(t, s, finishTask(j, 1, n))
	}
	apply(t, s, ExpireMachine{Name: "n1", Epoch: 1})
	wantStates(t, j, "SUCCEEDED SUCCEEDED | SUCCEEDED SUCCEEDED | PENDING")
	apply(t, s, LoseOutput{Attempt: attemptAt(j.Stages[1].Tasks[1].ID, 0)})
	wantStates(t, j, "SUCCEEDED PENDING | SUCCEEDED PENDING | PENDING")
	apply(t, s, ExpireMachine{Name: "n0", Epoch: 1})
	wantStates(t, j, "PENDING PENDING | PENDING PENDING | PENDING")
}

// TestTaskIsNotSplitAfterItsOutputWasRead loses the output of a map that a reduce may have read.
// If the map were split when it runs again, the reduce would read its second half twice.
func TestTaskIsNotSplitAfterItsOutputWasRead(t *testing.T) {
	s := New("1")
	apply(t, s, joinOf("a", "1"), joinOf("b", "1"), submit(1, 1), StartJob{job1})
	loadSplits(s)
	j := s.jobs[0]
	m := j.Stages[0].Tasks[0]
	apply(t, s, StartAttempt{Task: m.ID, Machine: "a", Range: whole})
	if !j.CanSplit(m) {
		t.Error("a map cannot be cut")
	}
	apply(t, s, finishTask(j, 0, 0), ExpireMachine{Name: "a", Epoch: 1}, StartAttempt{Task: m.ID, Machine: "b", Range: whole})
	second := attemptAt(m.ID, 1)
	if _, err := s.Apply(Entry{Command: SplitTask{second, dag.Position{Offset: 40}}}); !errors.Is(err, ErrRefused) || j.CanSplit(m) {
		t.Errorf("cut: %v, cuttable: %v", err, j.CanSplit(m))
	}
	apply(t, s, PreemptAttempt{Attempt: second, Mode: preempt.Split})
	if a := m.Attempts[1]; !a.Preempting() || a.Splitting() {
		t.Errorf("asked to keep its work it is %+v", a)
	}
}
