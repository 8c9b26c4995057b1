package cluster

import (
	"errors"
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
	"pgregory.net/rapid"
)

var (
	firstReduce  = TaskID{job1, "r", 0}
	secondReduce = TaskID{job1, "r", 1}
)

// spared is a job of two maps, finished on a and b, and two reduces that run on c
// and d. Machine a is lost, of whose map both have all.
func spared(t *testing.T) *State {
	t.Helper()
	s := New("1")
	apply(t, s, joinOf("a", "1"), joinOf("b", "1"), joinOf("c", "1"), joinOf("d", "1"), submit(2, 2), StartJob{job1},
		StartAttempt{Task: mapTask(0), Machine: "a"}, StartAttempt{Task: mapTask(1), Machine: "b"})
	finish(t, s, mapTask(0), 0)
	finish(t, s, mapTask(1), 0)
	apply(t, s, StartAttempt{Task: firstReduce, Machine: "c"}, StartAttempt{Task: secondReduce, Machine: "d"})
	delta := apply(t, s, ExpireMachine{Name: "a", Epoch: 1, Fetched: fetchedBy(attemptAt(firstReduce, 0), attemptAt(secondReduce, 0))})
	if len(delta.Revoked) != 0 {
		t.Errorf("revoked %v", delta.Revoked)
	}
	wantSpared(t, s)
	return s
}

// fetchedBy says that those have what the first map has written.
func fetchedBy(readers ...AttemptID) Fetched {
	return Fetched{Outputs: []AttemptID{attemptAt(mapTask(0), 0)}, Readers: readers}
}

func wantSpared(t *testing.T, s *State) {
	t.Helper()
	wantTask(t, s, mapTask(0), TaskSucceeded, 0)
	if gone := slices.Collect(s.jobs[0].Stages[0].Gone()); len(gone) != 1 || !gone[0].Winner.Lost {
		t.Errorf("gone are %v", gone)
	}
}

// TestOutputThatAllHaveFetchedRunsAgainWhenItIsNeeded goes through all ways in which
// a reduce loses what it has, and through what leaves it alone.
func TestOutputThatAllHaveFetchedRunsAgainWhenItIsNeeded(t *testing.T) {
	r := attemptAt(firstReduce, 0)
	second := attemptAt(firstReduce, 1)
	saved := CheckpointAttempt{Attempt: r, Checkpoint: Checkpoint{Path: "c"}}
	copied := CheckpointAttempt{Attempt: r, Checkpoint: Checkpoint{Path: "c", Copy: &CheckpointCopy{Path: "h"}}}
	resumed := StartAttempt{Task: firstReduce, Machine: "c"}
	for name, c := range map[string]struct {
		commands []Command
		again    bool
	}{
		"nothing happens":              {nil, false},
		"it fails":                     {[]Command{FailAttempt{Attempt: r}}, true},
		"it fails and stays":           {[]Command{FailAttempt{Attempt: r, OnMachine: true}}, true},
		"it is killed":                 {[]Command{KillAttempt{Attempt: r}}, true},
		"it is killed for another":     {[]Command{KillAttempt{Attempt: r, Preempt: true}}, true},
		"it ends":                      {[]Command{EndAttempt{Attempt: r}}, true},
		"it is lost":                   {[]Command{ExpireMachine{Name: "c", Epoch: 1}}, true},
		"its tasknode starts anew":     {[]Command{joinOf("c", "2")}, true},
		"it stands still":              {[]Command{SuspendAttempt{Attempt: r}, ResumeAttempt{r}}, false},
		"it declines to pause":         {[]Command{PauseAttempt{Attempt: r}, DeclinePause{r}}, false},
		"it pauses":                    {[]Command{saved}, false},
		"it goes on":                   {[]Command{saved, resumed}, false},
		"it goes on and fails":         {[]Command{saved, resumed, FailAttempt{Attempt: second}}, false},
		"its checkpoint is bad":        {[]Command{saved, resumed, FailAttempt{Attempt: second, BadCheckpoint: true}}, true},
		"its checkpoint is lost":       {[]Command{saved, ExpireMachine{Name: "c", Epoch: 1}}, true},
		"the copy of that is left":     {[]Command{copied, ExpireMachine{Name: "c", Epoch: 1}}, false},
		"it is lost as it goes on":     {[]Command{saved, resumed, ExpireMachine{Name: "c", Epoch: 1}}, true},
		"it finishes":                  {[]Command{FinishAttempt{Attempt: r}}, false},
		"the other one fails":          {[]Command{FinishAttempt{Attempt: r}, FailAttempt{Attempt: attemptAt(secondReduce, 0)}}, true},
		"the output cannot be read":    {[]Command{LoseOutput{Attempt: attemptAt(mapTask(0), 0)}}, true},
		"the job is suspended":         {[]Command{SuspendJob{Job: job1}, saved, ResumeJob{job1}}, false},
		"the other machine is lost":    {[]Command{ExpireMachine{Name: "b", Epoch: 1}}, false},
		"its machine is drained":       {[]Command{DrainMachine{"c", "away"}}, false},
		"the machine comes back empty": {[]Command{joinOf("a", "2")}, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := spared(t)
			apply(t, s, c.commands...)
			if !c.again {
				wantSpared(t, s)
				return
			}
			wantTask(t, s, mapTask(0), TaskPending, -1)
			if a := s.jobs[0].Stages[0].Tasks[0].Attempts[0]; !a.Lost || a.State != AttemptKilled || a.Cause == "" {
				t.Errorf("%v is %v, lost: %v, because %q", a.ID, a.State, a.Lost, a.Cause)
			}
		})
	}
}

// TestOutputThatSomebodyHasNotFetchedRunsAgain loses a machine while not all have
// what lies on it.
func TestOutputThatSomebodyHasNotFetchedRunsAgain(t *testing.T) {
	r, other := attemptAt(firstReduce, 0), attemptAt(secondReduce, 0)
	for name, c := range map[string]struct {
		before  []Command
		fetched Fetched
		again   bool
	}{
		"nobody has it":       {nil, Fetched{}, true},
		"one has it":          {nil, fetchedBy(r), true},
		"all have another":    {nil, Fetched{Outputs: []AttemptID{attemptAt(mapTask(1), 0)}, Readers: []AttemptID{r, other}}, true},
		"all have it":         {nil, fetchedBy(r, other), false},
		"the rest is done":    {[]Command{FinishAttempt{Attempt: other}}, fetchedBy(r), false},
		"it has failed since": {[]Command{FailAttempt{Attempt: r}, StartAttempt{Task: firstReduce, Machine: "c"}}, fetchedBy(r, other), true},
		"it is paused with it": {
			[]Command{CheckpointAttempt{Attempt: r}}, fetchedBy(r, other), false,
		},
		"it is paused without it": {[]Command{CheckpointAttempt{Attempt: r}}, fetchedBy(other), true},
		"tried twice, one has it": {[]Command{SpeculateTask{firstReduce, "b"}}, fetchedBy(r, other), true},
		"tried twice, both have it": {
			[]Command{SpeculateTask{firstReduce, "b"}}, fetchedBy(r, attemptAt(firstReduce, 1), other), false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := New("1")
			apply(t, s, joinOf("a", "1"), joinOf("b", "1"), joinOf("c", "1"), joinOf("d", "1"), submit(2, 2), StartJob{job1},
				StartAttempt{Task: mapTask(0), Machine: "a"}, StartAttempt{Task: mapTask(1), Machine: "b"})
			finish(t, s, mapTask(0), 0)
			finish(t, s, mapTask(1), 0)
			apply(t, s, StartAttempt{Task: firstReduce, Machine: "c"}, StartAttempt{Task: secondReduce, Machine: "d"})
			apply(t, s, c.before...)
			apply(t, s, ExpireMachine{Name: "a", Epoch: 1, Fetched: c.fetched})
			if c.again {
				wantTask(t, s, mapTask(0), TaskPending, -1)
			} else {
				wantSpared(t, s)
			}
		})
	}
}

// TestACheckpointThatWasGoneOnFromMayBeShort has a reduce fetch more after it went
// on from a checkpoint, and fall back to that.
func TestACheckpointThatWasGoneOnFromMayBeShort(t *testing.T) {
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

// TestGoneOutputIsThereAgain brings back what is gone, by its machine or a copy, and
// then loses the reduce that had it.
func TestGoneOutputIsThereAgain(t *testing.T) {
	for name, back := range map[string]Command{
		"its machine":           joinOf("a", "1", attemptAt(mapTask(0), 0)),
		"its machine, anew":     joinOf("a", "2", attemptAt(mapTask(0), 0)),
		"a copy somewhere else": MoveOutput{Attempt: attemptAt(mapTask(0), 0), Machine: "b"},
	} {
		t.Run(name, func(t *testing.T) {
			s := spared(t)
			apply(t, s, back, FailAttempt{Attempt: attemptAt(firstReduce, 0)})
			wantTask(t, s, mapTask(0), TaskSucceeded, 0)
			if a := s.jobs[0].Stages[0].Tasks[0].Attempts[0]; a.Lost {
				t.Errorf("%v is still lost", a.ID)
			}
		})
	}
}

func TestAReaderOfGoneOutputIsNotTriedTwice(t *testing.T) {
	s := spared(t)
	if _, err := s.Apply(Entry{Command: SpeculateTask{firstReduce, "b"}}); !errors.Is(err, ErrRefused) {
		t.Errorf("a second attempt that cannot read all: %v", err)
	}
	apply(t, s, joinOf("a", "1", attemptAt(mapTask(0), 0)), SpeculateTask{firstReduce, "b"})
}

func TestFetchedOutOfOrderIsRefused(t *testing.T) {
	s := spared(t)
	c := ExpireMachine{Name: "b", Epoch: 1, Fetched: fetchedBy(attemptAt(secondReduce, 0), attemptAt(firstReduce, 0))}
	if _, err := s.Apply(Entry{Command: c}); !errors.Is(err, ErrRefused) {
		t.Errorf("attempts out of order: %v", err)
	}
}

// TestWhatIsGoneRunsAgainByChains needs the output of the last of three stages
// again: its tasks need that of the first, which nobody needed when it was lost.
func TestWhatIsGoneRunsAgainByChains(t *testing.T) {
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

// fetches is what attempts have fetched: a dumb twin that follows each by itself.
type fetches map[AttemptID]map[AttemptID]bool

// started gives an attempt what the one has whose checkpoint it goes on from.
func (f fetches) started(s *State, id AttemptID) {
	_, _, a, _ := s.View().Attempt(id)
	f[id] = make(map[AttemptID]bool)
	if a.From > 0 {
		for output := range f[AttemptID{id.Task, a.From - 1}] {
			f[id][output] = true
		}
	}
}

// all is what can truly be said when a machine is lost: outputs that all readers
// have, as far as each is drawn to be known.
func (f fetches) all(s *State, machine string) (known Fetched) {
	for j := range s.View().Jobs() {
		for _, stage := range j.Stages {
			for _, w := range stage.Tasks {
				if w.Winner == nil || w.Winner.Home() != machine {
					continue
				}
				have, everybody := f.readers(j, w)
				if everybody {
					known.Outputs = append(known.Outputs, w.Winner.ID)
					known.Readers = append(known.Readers, have...)
				}
			}
		}
	}
	known.Readers = slices.DeleteFunc(known.Readers, func(r AttemptID) bool {
		j, reader, _, _ := s.View().Attempt(r)
		return slices.ContainsFunc(known.Outputs, func(w AttemptID) bool {
			writers, writer, _, _ := s.View().Attempt(w)
			return writers == j && j.Reads(reader, writer) && !f[r][w]
		})
	})
	slices.SortFunc(known.Outputs, AttemptID.Compare)
	slices.SortFunc(known.Readers, AttemptID.Compare)
	known.Readers = slices.Compact(known.Readers)
	return known
}

// readers are the attempts that have an output.
func (f fetches) readers(j *Job, w *Task) (have []AttemptID, everybody bool) {
	everybody = true
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			if t.State == TaskSucceeded || !j.Reads(t, w) {
				continue
			}
			has := false
			for _, a := range t.Attempts {
				if f[a.ID][w.Winner.ID] && (a.State == AttemptRunning || t.Checkpoint != nil && t.Checkpoint.Attempt == a.ID) {
					have, has = append(have, a.ID), true
				}
			}
			everybody = everybody && has
		}
	}
	return have, everybody
}

// check holds a state to leaving no attempt without what it has to read.
func (f fetches) check(t *rapid.T, s *State) {
	for j := range s.View().Jobs() {
		if j.State != JobRunning {
			continue
		}
		for _, stage := range j.Stages {
			for _, w := range stage.Tasks {
				if w.Winner != nil && w.Winner.Lost {
					f.checkReaders(t, j, w)
				}
			}
		}
	}
}

func (f fetches) checkReaders(t *rapid.T, j *Job, w *Task) {
	for _, stage := range j.Stages {
		for _, r := range stage.Tasks {
			if r.State == TaskSucceeded || !j.Reads(r, w) {
				continue
			}
			for _, a := range r.Attempts {
				if a.State == AttemptRunning && !f[a.ID][w.Winner.ID] {
					t.Fatalf("%v cannot read the output of %v, which is gone", a.ID, w.Winner.ID)
				}
			}
			if r.waits() && (r.Checkpoint == nil || !f[r.Checkpoint.Attempt][w.Winner.ID]) {
				t.Fatalf("%v waits and cannot read the output of %v, which is gone", r.ID, w.Winner.ID)
			}
		}
	}
}

// TestNobodyIsLeftWithoutWhatItReads throws commands at a cluster whose attempts
// fetch what is there, at random, and say so when a machine is lost.
func TestNobodyIsLeftWithoutWhatItReads(t *testing.T) {
	spared := 0
	for range 3 {
		rapid.Check(t, func(t *rapid.T) { spared += playFetches(t) })
	}
	if spared < 10 {
		t.Errorf("%d times only was something spared", spared)
	}
}

// playFetches returns how many outputs, each time a machine was lost, were gone that
// somebody had fetched.
func playFetches(t *rapid.T) (spared int) {
	s, f := New("1"), make(fetches)
	spec := JobSpec{Graph: drawFetching(t), MaxAttempts: [2]int{9, 9}}
	for _, c := range []Command{joinOf("n0", "x"), joinOf("n1", "x"), joinOf("n2", "x"), SubmitJob{spec}, StartJob{job1}} {
		if _, err := s.Apply(Entry{At: 1, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	for step := range rapid.IntRange(60, 150).Draw(t, "steps") {
		loadSplits(s)
		c := f.draw(t, s)
		delta, err := s.Apply(Entry{At: int64(step + 2), Command: c})
		if err != nil {
			continue
		}
		for _, id := range delta.Started {
			f.started(s, id)
		}
		if _, expired := c.(ExpireMachine); expired {
			spared += f.spared(s.jobs[0])
		}
		if fault := s.CheckInvariants(); fault != nil {
			t.Fatalf("after %T %+v:\n%v", c, c, fault)
		}
		f.check(t, s)
	}
	return spared
}

// spared is how many outputs are gone that somebody has fetched.
func (f fetches) spared(j *Job) (n int) {
	for _, stage := range j.Stages {
		for w := range stage.Gone() {
			if have, _ := f.readers(j, w); len(have) > 0 {
				n++
			}
		}
	}
	return n
}

// draw is a command, before which some attempts may fetch what there is.
func (f fetches) draw(t *rapid.T, s *State) Command {
	j := s.jobs[0]
	for _, m := range s.machines {
		for _, a := range m.Attempts {
			if a.State == AttemptRunning && rapid.Bool().Draw(t, "fetches") {
				f.fetch(t, j, a)
			}
		}
	}
	id := drawAttempt(t, s)
	var running []AttemptID
	for _, m := range s.machines {
		for _, a := range m.Attempts {
			running = append(running, a.ID)
		}
	}
	if len(running) > 0 && rapid.IntRange(0, 4).Draw(t, "any attempt") > 0 {
		id = rapid.SampledFrom(running).Draw(t, "running attempt")
	}
	verb := rapid.SampledFrom([]string{
		"start", "start", "start", "start", "start", "start", "finish", "finish", "finish", "checkpoint", "fail", "killattempt", "expire", "join", "join", "lose", "move", "speculate", "restore", "split", "bundle",
	}).Draw(t, "verb")
	switch verb {
	case "start":
		return drawFitting(t, s)
	case "join":
		name := drawHost(t)
		return joinOf(name, "x", f.held(t, s)...)
	case "finish":
		if stage := j.stage(id.Task.Stage); stage.Sink && rapid.IntRange(0, 7).Draw(t, "at its end") > 0 {
			return drawFitting(t, s)
		}
		return FinishAttempt{Attempt: id, Range: drawRange(t, s, id)}
	case "fail":
		return FailAttempt{Attempt: id, BadCheckpoint: rapid.Bool().Draw(t, "bad checkpoint")}
	case "expire":
		name := drawHost(t)
		return ExpireMachine{Name: name, Epoch: s.byName[name].Epoch, Fetched: f.all(s, name)}
	case "lose":
		return LoseOutput{id, "unreadable"}
	case "move":
		return MoveOutput{Attempt: id, Machine: drawHost(t)}
	case "split":
		return SplitTask{id, dag.Position{Offset: rapid.Int64Range(0, 100).Draw(t, "at")}}
	case "bundle":
		return drawBundleStart(t, s)
	case "checkpoint":
		return drawPreemption(t, verb, id)
	}
	return drawOperation(t, s, verb)
}

func drawHost(t *rapid.T) string {
	return rapid.SampledFrom([]string{"n0", "n1", "n2"}).Draw(t, "host")
}

// held are some attempts, in order.
func (f fetches) held(t *rapid.T, s *State) (held []AttemptID) {
	for range rapid.IntRange(0, 3).Draw(t, "held") {
		held = append(held, drawAttempt(t, s))
	}
	slices.SortFunc(held, AttemptID.Compare)
	return held
}

// drawFitting starts a task that can start, if there is one.
func drawFitting(t *rapid.T, s *State) Command {
	var fitting []StartAttempt
	for _, stage := range s.jobs[0].Stages {
		for task := range stage.Pending() {
			for _, m := range s.machines {
				c := StartAttempt{Task: task.ID, Machine: m.Name, Range: s.jobs[0].RangeOf(task)}
				if p, _ := s.task(task.ID); c.check(p, m, [slotKinds]int{}) == nil {
					fitting = append(fitting, c)
				}
			}
		}
	}
	if len(fitting) == 0 {
		return drawStart(t, s)
	}
	return rapid.SampledFrom(fitting).Draw(t, "start")
}

// fetch has an attempt fetch some of what it reads and can be had.
func (f fetches) fetch(t *rapid.T, j *Job, reader *Attempt) {
	some := rapid.IntRange(0, 3).Draw(t, "some only") == 0
	to := j.stage(reader.ID.Task.Stage).Tasks[reader.ID.Task.Number]
	for _, stage := range j.Stages {
		for _, w := range stage.Tasks {
			if w.Winner != nil && !w.Winner.Lost && j.Reads(to, w) && !(some && rapid.Bool().Draw(t, "not this")) {
				f[reader.ID][w.Winner.ID] = true
			}
		}
	}
}

// drawFetching is a graph whose tasks read files.
func drawFetching(t *rapid.T) dag.Graph {
	n := rapid.IntRange(1, 3).Draw(t, "nodes")
	g := dag.MapReduce(n, rapid.IntRange(1, 2).Draw(t, "reduces"))
	switch rapid.SampledFrom([]string{"mapreduce", "mapreduce", "rounds", "pairs", "gang", "combined"}).Draw(t, "graph") {
	case "rounds":
		g.Stages = append(g.Stages, dag.Stage{Name: "top", Nodes: 1})
		g.Edges = append(g.Edges, dag.Edge{From: "reduce", To: "top", Connection: dag.Gather})
	case "pairs":
		g.Stages[1].Nodes, g.Edges[0].Connection = n, dag.OneToOne
	case "gang":
		return gangGraph(n)
	case "combined":
		return combined(n, 2)
	}
	return g
}

// TestATaskIsNotCutWhoseOutputWasRead loses the output of a map that a reduce may
// have: were the map cut when it runs again, the reduce would read its second half
// twice.
func TestATaskIsNotCutWhoseOutputWasRead(t *testing.T) {
	s := New("1")
	apply(t, s, joinOf("a", "1"), joinOf("b", "1"), submit(1, 1), StartJob{job1})
	loadSplits(s)
	j := s.jobs[0]
	m := j.Stages[0].Tasks[0]
	apply(t, s, StartAttempt{Task: m.ID, Machine: "a", Range: whole})
	if !j.Cuttable(m) {
		t.Error("a map cannot be cut")
	}
	apply(t, s, finishTask(j, 0, 0), ExpireMachine{Name: "a", Epoch: 1}, StartAttempt{Task: m.ID, Machine: "b", Range: whole})
	second := attemptAt(m.ID, 1)
	if _, err := s.Apply(Entry{Command: SplitTask{second, dag.Position{Offset: 40}}}); !errors.Is(err, ErrRefused) || j.Cuttable(m) {
		t.Errorf("cut: %v, cuttable: %v", err, j.Cuttable(m))
	}
	apply(t, s, PauseAttempt{Attempt: second, Split: true})
	if a := m.Attempts[1]; !a.Pausing || a.Splitting {
		t.Errorf("asked to keep its work it is %+v", a)
	}
}
