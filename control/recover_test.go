package control

import (
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// badReport is a report that panics when it is handled.
type badReport struct {
	AttemptExited
	asked *int
}

func (e badReport) attempt() cluster.AttemptID {
	if *e.asked++; *e.asked > 1 {
		panic("report")
	}
	return e.Attempt
}

// stepped runs a step, and reports whether it has not panicked.
func stepped(c *Controller, now int64, events ...Event) (out Output, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return c.Step(now, events), true
}

// TestJobThatPanicsIsSkipped lets a report on the first of two jobs panic. The events after it
// are handled, requests stay pending, and the job is skipped until the caller has failed it.
func TestJobThatPanicsIsSkipped(t *testing.T) {
	s := newStage(t)
	for _, line := range [][]string{{"join", "n1", "1", "0"}, {"submit", "1", "0"}, {"load", "1"}, {"submit", "1", "0"}, {"load", "2"}} {
		s.run(s.event(line))
	}
	bad := s.job("1")
	id := cluster.AttemptID{Task: cluster.TaskID{Job: bad, Stage: "m"}}
	before, after := s.event([]string{"priority", "2", "1"})[0], s.event([]string{"priority", "2", "2"})[0]
	if _, ok := stepped(s.brain, 9, before, badReport{AttemptExited{Attempt: id}, new(int)}, after); ok {
		t.Fatal("the step has not panicked")
	}
	if suspect := s.brain.Recover(new(fifo.Policy)); suspect != (Suspect{Job: bad}) {
		t.Fatalf("suspect is %+v", suspect)
	}
	out, ok := stepped(s.brain, 10)
	if !ok || len(out.Commands) != 2 || len(out.Work) != 1 || out.Work[0].Job == bad {
		t.Errorf("the next step: %v, %v, %v", ok, out.Commands, out.Work)
	}
	if _, ok := stepped(s.brain, 11, badReport{AttemptExited{Attempt: id}, new(int)}); !ok {
		t.Error("a report on the job is handled")
	}
	s.run(append([]Event{s.apply(out.Commands)}, s.event([]string{"kill", "1"})...))
	s.run([]Event{AttemptExited{Attempt: id}})
	if j := s.state.View().Job(bad); j.State != cluster.JobAborting || j.Occupied != 0 {
		t.Errorf("the job is %v, with %d attempts", j.State, j.Occupied)
	}
}

// TestRecoverKeepsSettings recovers from a panic. The controller still gives out a slot in the
// batch that frees it.
func TestRecoverKeepsSettings(t *testing.T) {
	s := newStage(t)
	s.brain.AnticipateEnds()
	for _, line := range []string{"join n1 1 0", "submit 2 0", "load 1"} {
		s.run(s.event(strings.Fields(line)))
	}
	bad := cluster.AttemptID{Task: cluster.TaskID{Job: cluster.JobID{Cluster: "1", Number: 9}, Stage: "m"}}
	if _, ok := stepped(s.brain, s.now, badReport{AttemptExited{Attempt: bad}, new(int)}); ok {
		t.Fatal("the step has not panicked")
	}
	s.brain.Recover(new(fifo.Policy))
	s.run(nil)
	if got, want := s.batches("finished m0.0"), []string{"FinishAttempt StartAttempt"}; !slices.Equal(got, want) {
		t.Errorf("batches %q, want %q", got, want)
	}
}

// panickyPolicy panics in each call of one kind.
type panickyPolicy struct {
	fifo.Policy
	in string
}

func (p *panickyPolicy) call(name string) {
	if p.in == name {
		panic(name)
	}
}

func (p *panickyPolicy) Reset(now int64, v sched.View) {
	p.call("reset")
	p.Policy.Reset(now, v)
}

func (p *panickyPolicy) Observe(now int64, v sched.View, d cluster.Delta) {
	p.call("observe")
	p.Policy.Observe(now, v, d)
}

func (p *panickyPolicy) Decide(now int64, v sched.View) sched.Plan {
	p.call("decide")
	return p.Policy.Decide(now, v)
}

func (p *panickyPolicy) NextWake() int64 {
	p.call("wake")
	return p.Policy.NextWake()
}

// TestPolicyThatPanicsIsReplaced sets a policy that panics. Its replacement starts the task, and
// no command is lost or proposed twice.
func TestPolicyThatPanicsIsReplaced(t *testing.T) {
	for _, in := range []string{"reset", "observe", "decide", "wake"} {
		s := newStage(t)
		s.run(s.event([]string{"join", "n1", "1", "0"}))
		out, ok := stepped(s.brain, 5, append([]Event{PolicyChanged{&panickyPolicy{in: in}}}, s.event([]string{"submit", "1", "0"})...)...)
		for now := int64(6); !ok || out.Commands != nil; now++ {
			switch {
			case now > 20:
				t.Fatalf("%s: it panics for ever", in)
			case ok:
				out, ok = stepped(s.brain, now, s.apply(out.Commands))
				continue
			}
			if suspect := s.brain.Recover(new(fifo.Policy)); !suspect.Policy {
				t.Errorf("%s: suspect is %+v", in, suspect)
			}
			out, ok = stepped(s.brain, now)
		}
		s.run(s.event([]string{"load", "1"}))
		if j := s.state.View().Job(s.job("1")); j == nil || j.Occupied != 1 || s.state.View().Job(cluster.JobID{Cluster: j.ID.Cluster, Number: 2}) != nil {
			t.Errorf("%s: the job is %+v", in, j)
		}
	}
}
