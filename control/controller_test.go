package control

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"pgregory.net/rapid"
)

func TestOneBatchIsInFlightAtATime(t *testing.T) {
	s := newStage(t)
	join := func(name string) Event {
		return Requested{Command: cluster.JoinMachine{Name: name, Slots: cluster.Slots{1, 1}}}
	}
	first := s.brain.Step(1, []Event{join("a")})
	if len(first.Commands) != 1 {
		t.Fatalf("proposed %v", first.Commands)
	}
	for range 3 {
		if out := s.brain.Step(1, []Event{join("b")}); out.Commands != nil {
			t.Fatalf("proposed %v beside a batch on its way", out.Commands)
		}
	}
	second := s.brain.Step(2, []Event{s.apply(first.Commands)})
	if len(second.Commands) != 3 || second.Commands[0].At != 2 {
		t.Errorf("what had come meanwhile: %v", second.Commands)
	}
}

func TestWakeIsTheNextDeadline(t *testing.T) {
	s := newStage(t)
	for _, line := range [][]string{{"join", "n1", "2", "0"}, {"submit", "2", "0", "timeout=1000"}, {"load", "1"}} {
		s.run(s.event(line))
	}
	if out := s.brain.Step(1, nil); out.Wake != 1001 {
		t.Errorf("wakes at %d", out.Wake)
	}
	s.run([]Event{AttemptFinished{Attempt: s.attempt("m0.0"), Range: s.rangeOf(s.attempt("m0.0"))}})
	s.run([]Event{AttemptFinished{Attempt: s.attempt("m1.0"), Range: s.rangeOf(s.attempt("m1.0"))}})
	if out := s.brain.Step(1001, nil); out.Wake != 0 || out.Commands != nil {
		t.Errorf("after the end: %+v", out)
	}
}

// TestStallPostponesTimeouts fails no attempt for the time in which the body was suspended.
func TestStallPostponesTimeouts(t *testing.T) {
	s := newStage(t)
	for _, line := range [][]string{{"join", "n1", "2", "0"}, {"submit", "2", "0", "timeout=1000"}, {"load", "1"}} {
		s.run(s.event(line))
	}
	if out := s.brain.Step(5001, []Event{Stalled{Millis: 4500}}); out.Commands != nil || out.Wake != 5501 {
		t.Errorf("after the stall: %v, wakes at %d", out.Commands, out.Wake)
	}
	if out := s.brain.Step(5501, nil); len(out.Commands) != 2 {
		t.Errorf("when the attempts made no progress after it either: %v", out.Commands)
	}
}

// TestRandomLivesEnd plays jobs whose attempts fail, are lost and are split at random, on
// machines that join and expire. When failures stop, every job has to end, with no slot in
// use.
func TestRandomLivesEnd(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := newStage(t)
		s.run(s.event([]string{"join", "n0", "1", "1"}))
		s.run(s.event([]string{"join", "n1", "1", "1"}))
		jobs := rapid.IntRange(1, 3).Draw(rt, "jobs")
		for n := range jobs {
			s.run([]Event{Requested{Command: cluster.SubmitJob{Spec: cluster.JobSpec{
				Graph:       dag.MapReduce(rapid.IntRange(0, 3).Draw(rt, "maps"), rapid.IntRange(0, 2).Draw(rt, "reduces")),
				MaxAttempts: [2]int{3, 3}, SkipRecords: 1, SlowStartPPM: 50_000, TimeoutMillis: 100,
			}}}})
			s.run(s.load(s.job(fmt.Sprint(n + 1))))
		}
		for range rapid.IntRange(0, 90).Draw(rt, "bad events") {
			s.now += int64(rapid.SampledFrom([]int{0, 10, 30, 60, slotPatience}).Draw(rt, "ms"))
			s.run(s.drawEvent(rt))
		}
		s.run(s.event([]string{"join", "n0", "1", "1"}))
		s.run([]Event{Requested{Command: cluster.AdmitMachine{Name: "n0"}}})
		for n := range jobs {
			s.run([]Event{Requested{Command: cluster.ResumeJob{Job: s.job(fmt.Sprint(n + 1))}}})
		}
		for range 200 {
			s.run(s.dueEvents())
		}
		for j := range s.state.View().Jobs() {
			if !j.State.Final() {
				rt.Fatalf("%v is %v with %d slots\n%s", j.ID, j.State, j.Occupied, s.out.String())
			}
		}
	})
}

// running returns the attempts that occupy slots.
func (s *harness) running() (ids []cluster.AttemptID) {
	for m := range s.state.View().Machines() {
		for _, a := range m.Attempts {
			ids = append(ids, a.ID)
		}
	}
	return ids
}

func (s *harness) drawEvent(rt *rapid.T) []Event {
	ids := s.running()
	if events := s.drawMove(rt); events != nil {
		return events
	}
	if rapid.IntRange(0, 4).Draw(rt, "of an operator") == 0 {
		return s.drawOperation(rt)
	}
	if len(ids) == 0 || rapid.IntRange(0, 9).Draw(rt, "machine event") == 0 {
		name := rapid.SampledFrom([]string{"n0", "n1"}).Draw(rt, "machine")
		if m := s.state.View().Machine(name); m != nil && rapid.Bool().Draw(rt, "expires") {
			return []Event{Requested{Command: cluster.ExpireMachine{Name: name, Epoch: m.Epoch}}}
		}
		return s.event([]string{"join", name, "1", "1"})
	}
	id := ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "attempt")]
	if _, _, a, _ := s.state.View().Attempt(id); a.Preempting() && rapid.Bool().Draw(rt, "checkpoints") {
		return []Event{Requested{Command: cluster.CheckpointAttempt{Attempt: id}}}
	}
	switch rapid.IntRange(0, 7).Draw(rt, "event") {
	case 0:
		return []Event{AttemptFailed{Attempt: id, Failure: cluster.Failure{Cause: "bad"}}}
	case 1:
		return []Event{AttemptFailed{Attempt: id, Failure: cluster.Failure{Cause: "bad", Record: &dag.Position{Offset: 5}}}}
	case 2:
		lost := id
		lost.Task.Stage, lost.Task.Number, lost.Number = "m", 0, 0
		return []Event{AttemptFailed{Attempt: id, Failure: cluster.Failure{Cause: "unreadable"}, LostOutput: lost}}
	case 3:
		if r := s.rangeOf(id); r.End.Offset-r.Start.Offset > 1 {
			r.End.Offset--
			return []Event{AttemptFinished{Attempt: id, Range: r}}
		}
	case 4:
		return []Event{Requested{Command: cluster.PreemptAttempt{Attempt: id, Mode: preempt.Checkpoint}}}
	case 5:
		return []Event{Requested{Command: cluster.CheckpointAttempt{Attempt: id}}}
	}
	return s.finish(id)
}

// drawOperation returns a command of an operator: drain or admit a machine, suspend or
// resume a job.
func (s *harness) drawOperation(rt *rapid.T) []Event {
	for m := range s.state.View().Machines() {
		if _, left := s.state.View().NeededOn(m); len(left) > 0 && rapid.Bool().Draw(rt, "with a checkpoint") {
			return s.event([]string{"drain", m.Name})
		}
	}
	name := rapid.SampledFrom([]string{"n0", "n1"}).Draw(rt, "machine")
	job := s.job(rapid.SampledFrom([]string{"1", "2"}).Draw(rt, "job"))
	command := rapid.SampledFrom([]cluster.Command{
		cluster.DrainMachine{Name: name, Cause: "to be stopped"}, cluster.AdmitMachine{Name: name},
		cluster.SuspendJob{Job: job, Cause: "later"}, cluster.SuspendJob{Job: job, Cause: "later"}, cluster.ResumeJob{Job: job},
	}).Draw(rt, "operation")
	return []Event{Requested{Command: command}}
}

// drawMove answers an order to copy output or a checkpoint, if there is one: with a failure
// or a copy, which may not be needed any more.
func (s *harness) drawMove(rt *rapid.T) []Event {
	var ids []cluster.AttemptID
	for id, m := range s.brain.migrations.byAttempt {
		if m.to != "" {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || rapid.Bool().Draw(rt, "no copy yet") {
		return nil
	}
	slices.SortFunc(ids, cluster.AttemptID.Compare)
	id := ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "copied")]
	ev := OutputCopied{Attempt: id, Machine: s.brain.migrations.byAttempt[id].to, Segments: s.segments(id).Segments}
	if _, t, _, ok := s.state.View().Attempt(id); ok && t.CheckpointOf(id) != nil {
		ev.Checkpoint = &cluster.Checkpoint{Path: "copy"}
	}
	if rapid.IntRange(0, 3).Draw(rt, "fails") == 0 {
		ev.Problem, ev.Useless = "bad", rapid.Bool().Draw(rt, "damaged")
	}
	return []Event{ev}
}

func (s *harness) finish(id cluster.AttemptID) []Event {
	return []Event{AttemptFinished{Attempt: id, Range: s.rangeOf(id), Output: s.segments(id)}}
}

// dueEvents returns all events that are due, without failures.
func (s *harness) dueEvents() (events []Event) {
	for _, id := range s.running() {
		events = append(events, s.finish(id)...)
	}
	for j := range s.state.View().Jobs() {
		switch {
		case j.Occupied > 0:
		case j.State == cluster.JobCommitting:
			events = append(events, Requested{Command: cluster.CommitJob{Job: j.ID}})
		case j.State == cluster.JobAborting:
			events = append(events, Requested{Command: cluster.CloseJob{Job: j.ID}})
		}
	}
	return events
}
