package control

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"pgregory.net/rapid"
)

// graphs are jobs of several stages, by their special feature. None takes more than two
// slots of a kind on one machine, or four at once.
func graphs() map[string]dag.Graph {
	shm := dag.Edge{Channel: dag.ChannelSHM, Connection: dag.OneToOne}
	tcp := dag.Edge{Channel: dag.ChannelTCP, Connection: dag.OneToOne}
	joined := func(e dag.Edge, from, to string) dag.Edge {
		e.From, e.To = from, to
		return e
	}
	return map[string]dag.Graph{
		"rounds": {
			Stages: []dag.Stage{{Name: "read", Nodes: 3}, {Name: "one", Nodes: 3}, {Name: "two", Nodes: 3}, {Name: "top", Nodes: 1}},
			Edges:  []dag.Edge{{From: "read", To: "one"}, {From: "one", To: "two"}, {From: "two", To: "top", Connection: dag.Gather}},
		},
		"pipeline": {
			Stages: []dag.Stage{{Name: "read", Nodes: 3}, {Name: "fold", Nodes: 3, Slots: dag.SlotMap}, {Name: "sum", Nodes: 2}},
			Edges:  []dag.Edge{joined(shm, "read", "fold"), {From: "fold", To: "sum"}},
		},
		"stream": {
			Stages: []dag.Stage{{Name: "read", Nodes: 2}, {Name: "fold", Nodes: 2}, {Name: "sum", Nodes: 2}},
			Edges:  []dag.Edge{joined(tcp, "read", "fold"), {From: "fold", To: "sum"}},
		},
		"combine": {
			Stages: []dag.Stage{{Name: "read", Nodes: 4}, {Name: "fold", Nodes: 2}, {Name: "sum", Nodes: 2}},
			Edges:  []dag.Edge{{From: "read", To: "fold", Connection: dag.PerMachine}, {From: "fold", To: "sum"}},
		},
		"turns": {
			Stages: []dag.Stage{{Name: "read", Nodes: 3}, {Name: "sum", Nodes: 2}, {Name: "split", Nodes: 3, Slots: dag.SlotMap}, {Name: "top", Nodes: 2}},
			Edges:  []dag.Edge{{From: "read", To: "sum"}, {From: "sum", To: "split"}, {From: "split", To: "top"}},
		},
		"gangs of pairs": {
			Stages: []dag.Stage{{Name: "read", Nodes: 2}, {Name: "clean", Nodes: 2, Slots: dag.SlotMap}, {Name: "count", Nodes: 2}},
			Edges:  []dag.Edge{joined(shm, "read", "clean"), {From: "clean", To: "count", Channel: dag.ChannelTCP}},
		},
	}
}

// submitGraph submits a job and loads its splits.
func (s *harness) submitGraph(g dag.Graph) *cluster.Job {
	s.run([]Event{Requested{Command: cluster.SubmitJob{Spec: cluster.JobSpec{
		Graph: g, MaxAttempts: [2]int{100, 100}, SlowStartPPM: 50_000, TimeoutMillis: 1_000_000,
	}}}})
	var job *cluster.Job
	for j := range s.state.View().Jobs() {
		job = j
	}
	s.run(s.load(job.ID))
	return job
}

// read reports whether everything that an attempt reads is available or fetched.
func (s *harness) read(id cluster.AttemptID) bool {
	j, stage, reader, _ := s.state.View().Task(id.Task)
	for i, e := range j.Spec.Graph.Edges {
		if e.Channel == dag.ChannelFile && j.StageOf(e.To) == stage && !j.EdgeComplete(i) {
			return false
		}
	}
	for _, up := range j.Stages {
		for w := range up.LostUnneeded() {
			if j.Reads(reader, w) && !s.hasFetched(id, w) {
				return false
			}
		}
	}
	return true
}

// source is a Node whose output is read along an edge.
type source struct{ edge, node int }

// hasFetched reports whether an attempt has the output of a finished task, from any attempt
// of the task, since all of them write the same output.
func (s *harness) hasFetched(id cluster.AttemptID, w *cluster.Task) bool {
	for _, seg := range w.Output.Segments {
		if !s.fetched[id][source{seg.Edge, seg.Node}] {
			return false
		}
	}
	return true
}

// fetch makes an attempt fetch its available input, and returns its report. Fetched input
// stays, even if the writer's output is lost.
func (s *harness) fetch(id cluster.AttemptID) []Event {
	j, stage, reader, _ := s.state.View().Task(id.Task)
	if s.fetched == nil {
		s.fetched = make(map[cluster.AttemptID]map[source]bool)
	}
	if s.fetched[id] == nil {
		s.fetched[id] = make(map[source]bool)
	}
	for up := range stage.Upstream() {
		for _, w := range up.Tasks {
			if w.Winner == nil || w.Winner.Lost() || !j.Reads(reader, w) {
				continue
			}
			for _, seg := range w.Output.Segments {
				s.fetched[id][source{seg.Edge, seg.Node}] = true
			}
		}
	}
	ev := AttemptProgressed{Attempt: id, Fraction: -1}
	for from := range s.fetched[id] {
		ev.Fetched = with(ev.Fetched, from.edge, from.node)
	}
	return []Event{ev}
}

// with adds a Node, below eight, to the output fetched along an edge.
func with(fetched []EdgeFetched, edge, node int) []EdgeFetched {
	for i := range fetched {
		if fetched[i].Edge == edge {
			fetched[i].Nodes[0] |= 1 << node
			return fetched
		}
	}
	return append(fetched, EdgeFetched{Edge: edge, Nodes: []byte{1 << node}})
}

// progress returns all events that are due, without failures. Attempts that wait for output
// keep waiting until they are ordered to exit.
func (s *harness) progress() (events []Event) {
	for _, e := range s.dueEvents() {
		done, ok := e.(AttemptFinished)
		switch {
		case !ok || s.read(done.Attempt):
			events = append(events, e)
		case s.isOrderedToEnd(done.Attempt):
			events = append(events, AttemptExited{Attempt: done.Attempt})
		}
	}
	return events
}

// playOut plays steps without failures. Time passes while no event is due.
func (s *harness) playOut(steps int) {
	for range steps {
		events := s.progress()
		if s.run(events); len(events) == 0 {
			s.now += deadlockNext
		}
	}
}

func (s *harness) isOrderedToEnd(id cluster.AttemptID) bool {
	_, _, a, ok := s.state.View().Attempt(id)
	return ok && !a.Active()
}

// TestGraphsEnd plays jobs of several stages with failures, lost output, and machines that
// join and expire. When failures stop, all jobs end: there is no slot deadlock.
func TestGraphsEnd(t *testing.T) {
	for name, g := range graphs() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { graphsEnd(t, rt, g) })
		})
	}
}

// TestGraphsEndTogether plays several jobs at the same time, which hold slots that the
// others need.
func TestGraphsEndTogether(t *testing.T) {
	names := slices.Sorted(maps.Keys(graphs()))
	rapid.Check(t, func(rt *rapid.T) {
		var together []dag.Graph
		for _, name := range rapid.SliceOfN(rapid.SampledFrom(names), 2, 3).Draw(rt, "graphs") {
			together = append(together, graphs()[name])
		}
		graphsEnd(t, rt, together...)
	})
}

func graphsEnd(t *testing.T, rt *rapid.T, together ...dag.Graph) {
	s := newStage(t)
	for _, name := range []string{"n0", "n1"} {
		s.run(s.event([]string{"join", name, "2", "2"}))
	}
	var jobs []*cluster.Job
	for _, g := range together {
		jobs = append(jobs, s.submitGraph(g))
	}
	for range rapid.IntRange(0, 60).Draw(rt, "bad events") {
		s.run(s.drawTrouble(rt))
	}
	for _, name := range []string{"n0", "n1"} {
		s.run(s.event([]string{"join", name, "2", "2"}))
	}
	s.playOut(400)
	for _, job := range jobs {
		if job.State != cluster.JobSucceeded {
			rt.Fatalf("%v is %v with %d slots\n%s", job.ID, job.State, job.Occupied, s.out.String())
		}
	}
}

// drawTrouble returns a failure, or a step forward.
func (s *harness) drawTrouble(rt *rapid.T) []Event {
	if rapid.IntRange(0, 9).Draw(rt, "machine event") == 0 {
		name := rapid.SampledFrom([]string{"n0", "n1"}).Draw(rt, "machine")
		m := s.state.View().Machine(name)
		switch {
		case m.Lost:
			return s.event([]string{"join", name, "2", "2"})
		case rapid.Bool().Draw(rt, "restarts"):
			return s.event([]string{"join", name, "2", "2", m.Instance + "+"})
		}
		return []Event{Requested{Command: cluster.ExpireMachine{Name: name, Epoch: m.Epoch}}}
	}
	ids := s.running()
	if len(ids) == 0 {
		return s.progress()
	}
	id := ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "attempt")]
	switch rapid.IntRange(0, 5).Draw(rt, "event") {
	case 4, 5:
		return s.fetch(id)
	case 0:
		return []Event{AttemptFailed{Attempt: id, Failure: cluster.Failure{Cause: "bad"}}}
	case 1:
		return s.drawLoss(rt, id)
	}
	if s.read(id) {
		return s.finish(id)
	}
	return s.progress()
}

// drawLoss fails an attempt that cannot read the output of a finished task of its job.
func (s *harness) drawLoss(rt *rapid.T, id cluster.AttemptID) []Event {
	for _, stage := range s.state.View().Job(id.Task.Job).Stages {
		for _, t := range stage.Tasks {
			if t.Winner != nil && rapid.Bool().Draw(rt, "lost") {
				return []Event{AttemptFailed{Attempt: id, Failure: cluster.Failure{Cause: "unreadable"}, LostOutput: t.Winner.ID}}
			}
		}
	}
	return nil
}

// TestReadersGiveUpSlots loses the output of a stage while all slots of its kind are held by
// tasks that wait for it. A reader is preempted, but not before the writer has waited for a while.
func TestReadersGiveUpSlots(t *testing.T) {
	s := newStage(t)
	s.run(s.event([]string{"join", "n0", "3", "2"}))
	job := s.submitGraph(graphs()["rounds"])
	for job.Stages[2].Running < 2 {
		s.run(s.progress())
	}
	lost, reader := job.Stages[1].Tasks[0].Winner.ID, job.Stages[2].Tasks[0].Attempts[0].ID
	before := s.out.Len()
	s.run([]Event{AttemptFailed{Attempt: reader, Failure: cluster.Failure{Cause: "unreadable"}, LostOutput: lost}})
	if job.Stages[1].Running != 1 {
		t.Errorf("the task that is to run again does not:\n%s", s.out.String()[before:])
	}
	reader = job.Stages[2].Tasks[1].Attempts[0].ID
	s.run([]Event{Requested{Command: cluster.LoseOutput{Attempt: job.Stages[1].Tasks[1].Winner.ID, Cause: "gone"}}})
	s.now += deadlockAfter - 1
	if s.run(nil); job.Stages[2].Running != 1 {
		t.Errorf("the reader is preempted at once:\n%s", s.out.String()[before:])
	}
	s.now++
	s.run(nil)
	if got := s.out.String()[before:]; !strings.Contains(got, reader.String()+" (its slot is needed for one tasks, whose output it waits for)") {
		t.Errorf("no reader is preempted:\n%s", got)
	}
}

// TestReadersGiveUpSlotsElsewhere loses the output of a task that is not tried again on the one
// machine with a free slot.
func TestReadersGiveUpSlotsElsewhere(t *testing.T) {
	s := newStage(t)
	for _, name := range []string{"n0", "n1"} {
		s.run(s.event([]string{"join", name, "2", "2"}))
	}
	job := s.submitGraph(graphs()["rounds"])
	for job.Stages[1].Running == 0 {
		s.run(s.progress())
	}
	var avoids *cluster.Task
	for _, task := range job.Stages[1].Tasks {
		if a := task.Attempts[0]; a.Machine == "n1" && avoids == nil {
			avoids = task
			s.run([]Event{AttemptFailed{Attempt: a.ID, Failure: cluster.Failure{Cause: "bad"}}})
		}
	}
	for job.Stages[2].Running < 3 {
		s.run(s.progress())
	}
	view := s.state.View()
	if view.Machine("n0").Free(job.Stages[2].Slot) != 0 {
		t.Fatalf("n0 is to be full for once:\n%s", s.out.String())
	}
	s.run([]Event{Requested{Command: cluster.LoseOutput{Attempt: avoids.Winner.ID, Cause: "gone"}}})
	s.playOut(40)
	if job.State != cluster.JobSucceeded {
		t.Errorf("%v is %v:\n%s", job.ID, job.State, s.out.String())
	}
}

// TestReadersGiveUpSlotsForOthers loses output for which tasks in map slots wait. The reduce
// slots that its writers need are held by reduces of another job, which wait for maps.
func TestReadersGiveUpSlotsForOthers(t *testing.T) {
	s := newStage(t)
	s.run(s.event([]string{"join", "n0", "1", "1"}))
	job := s.submitGraph(dag.Graph{
		Stages: []dag.Stage{{Name: "read", Nodes: 1}, {Name: "sum", Nodes: 1}, {Name: "top", Nodes: 2, Slots: dag.SlotMap}},
		Edges:  []dag.Edge{{From: "read", To: "sum"}, {From: "sum", To: "top"}},
	})
	for job.Stages[2].Running == 0 {
		s.run(s.progress())
	}
	s.run(s.event([]string{"submit", "2", "1", "slow=0"}))
	s.run(s.event([]string{"load", "2"}))
	other := s.state.View().Job(s.job("2"))
	if other.Stages[1].Running != 1 || other.Stages[0].Running != 0 {
		t.Fatalf("the reduce of the other job is to wait for maps that have no slot:\n%s", s.out.String())
	}
	s.run([]Event{Requested{Command: cluster.LoseOutput{Attempt: job.Stages[1].Tasks[0].Winner.ID, Cause: "gone"}}})
	s.playOut(40)
	for _, j := range []*cluster.Job{job, other} {
		if j.State != cluster.JobSucceeded {
			t.Errorf("%v is %v:\n%s", j.ID, j.State, s.out.String())
		}
	}
}
