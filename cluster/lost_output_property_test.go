package cluster

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
	"pgregory.net/rapid"
)

// fetches is a dumb twin that tracks for each attempt which outputs it has fetched.
type fetches map[AttemptID]map[AttemptID]bool

// started gives an attempt the fetched outputs of the attempt that wrote its checkpoint.
func (f fetches) started(s *State, id AttemptID) {
	_, _, a, _ := s.View().Attempt(id)
	f[id] = make(map[AttemptID]bool)
	if a.From > 0 {
		for output := range f[AttemptID{id.Task, a.From - 1}] {
			f[id][output] = true
		}
	}
}

// all returns a true report for the loss of a machine: the outputs that every reader has
// fetched, and the readers that have fetched all of these outputs that they read.
func (f fetches) all(s *State, machine string) (known Fetched) {
	for j := range s.View().Jobs() {
		for _, stage := range j.Stages {
			for _, w := range stage.Tasks {
				if w.Winner == nil || w.Winner.DataMachine() != machine {
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

// readers returns the attempts that have an output.
func (f fetches) readers(j *Job, w *Task) (have []AttemptID, everybody bool) {
	everybody = true
	for _, stage := range j.Stages {
		for _, t := range stage.Tasks {
			if t.State == TaskSucceeded || !j.Reads(t, w) {
				continue
			}
			has := false
			for _, a := range t.Attempts {
				if f[a.ID][w.Winner.ID] && (a.Active() || t.Checkpoint != nil && t.Checkpoint.Attempt == a.ID) {
					have, has = append(have, a.ID), true
				}
			}
			everybody = everybody && has
		}
	}
	return have, everybody
}

// check fails if an attempt lacks input that it has to read.
func (f fetches) check(t *rapid.T, s *State) {
	for j := range s.View().Jobs() {
		if j.State != JobRunning {
			continue
		}
		for _, stage := range j.Stages {
			for _, w := range stage.Tasks {
				if w.Winner != nil && w.Winner.Lost() {
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
				if a.Active() && !f[a.ID][w.Winner.ID] {
					t.Fatalf("%v cannot read the output of %v, which is gone", a.ID, w.Winner.ID)
				}
			}
			if r.isWaiting() && (r.Checkpoint == nil || !f[r.Checkpoint.Attempt][w.Winner.ID]) {
				t.Fatalf("%v waits and cannot read the output of %v, which is gone", r.ID, w.Winner.ID)
			}
		}
	}
}

// TestEveryReaderHasItsInput applies random commands to a cluster whose attempts
// fetch available output at random, and report it when a machine is lost or its tasknode
// restarts.
func TestEveryReaderHasItsInput(t *testing.T) {
	var lost, startedOver int
	for round := 0; round < 3 || (lost < 10 || startedOver < 10) && round < 30; round++ { // the cases are random, and few with -short
		rapid.Check(t, func(t *rapid.T) {
			l, a := playFetches(t)
			lost, startedOver = lost+l, startedOver+a
		})
	}
	if lost < 10 || startedOver < 10 {
		t.Errorf("%d times only was something spared that was lost with a machine, %d times with a tasknode", lost, startedOver)
	}
}

// playFetches returns how many outputs that had been fetched were lost, by losses of
// machines and by restarts of tasknodes.
func playFetches(t *rapid.T) (lost, startedOver int) {
	s, f := New("1"), make(fetches)
	spec := JobSpec{Graph: drawFetching(t), MaxAttempts: [2]int{9, 9}}
	for _, c := range []Command{joinOf("n0", "x"), joinOf("n1", "x"), joinOf("n2", "x"), SubmitJob{spec}, StartJob{job1}} {
		if _, err := s.Apply(Entry{At: 1, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	for step := range rapid.IntRange(60, 150).Draw(t, "steps") {
		loadSplits(s)
		c, before := f.draw(t, s), f.spared(s.jobs[0])
		delta, err := s.Apply(Entry{At: int64(step + 2), Command: c})
		if err != nil {
			continue
		}
		for _, id := range delta.Started {
			f.started(s, id)
		}
		switch more := max(f.spared(s.jobs[0])-before, 0); c.(type) {
		case ExpireMachine:
			lost += more
		case JoinMachine:
			startedOver += more
		}
		if problem := s.CheckInvariants(); problem != nil {
			t.Fatalf("after %T %+v:\n%v", c, c, problem)
		}
		f.check(t, s)
	}
	return lost, startedOver
}

// spared returns the number of lost outputs that an attempt has fetched.
func (f fetches) spared(j *Job) (n int) {
	for _, stage := range j.Stages {
		for w := range stage.LostUnneeded() {
			if have, _ := f.readers(j, w); len(have) > 0 {
				n++
			}
		}
	}
	return n
}

// draw returns a command; before it, some attempts may fetch output.
func (f fetches) draw(t *rapid.T, s *State) Command {
	j := s.jobs[0]
	for _, m := range s.Machines {
		for _, a := range m.Attempts {
			if a.Active() && rapid.Bool().Draw(t, "fetches") {
				f.fetch(t, j, a)
			}
		}
	}
	id := drawAttempt(t, s)
	var running []AttemptID
	for _, m := range s.Machines {
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
		return joinWith(f.all(s, name), joinOf(name, rapid.SampledFrom([]string{"x", "x", "y"}).Draw(t, "instance"), f.retained(t, s)...))
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

// retained returns some attempts, in order.
func (f fetches) retained(t *rapid.T, s *State) (retained []AttemptID) {
	for range rapid.IntRange(0, 3).Draw(t, "held") {
		retained = append(retained, drawAttempt(t, s))
	}
	slices.SortFunc(retained, AttemptID.Compare)
	return retained
}

// drawFitting starts a task that can start, if there is one.
func drawFitting(t *rapid.T, s *State) Command {
	var fitting []StartAttempt
	for _, stage := range s.jobs[0].Stages {
		for task := range stage.Pending() {
			for _, m := range s.Machines {
				c := StartAttempt{Task: task.ID, Machine: m.Name, Range: s.jobs[0].RangeOf(task)}
				if p, _ := s.task(task.ID); c.check(p, m, Capacity{}) == nil {
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

// fetch makes an attempt fetch some of its available input.
func (f fetches) fetch(t *rapid.T, j *Job, reader *Attempt) {
	some := rapid.IntRange(0, 3).Draw(t, "some only") == 0
	to := j.stage(reader.ID.Task.Stage).Tasks[reader.ID.Task.Number]
	for _, stage := range j.Stages {
		for _, w := range stage.Tasks {
			if w.Winner != nil && !w.Winner.Lost() && j.Reads(to, w) && !(some && rapid.Bool().Draw(t, "not this")) {
				f[reader.ID][w.Winner.ID] = true
			}
		}
	}
}

// drawFetching returns a graph whose tasks read files.
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
