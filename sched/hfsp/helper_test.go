package hfsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// scene is a cluster under HFSP that observes every change.
type scene struct {
	*schedtest.Cluster
	*Policy
	facts facts
}

// facts are the progress reports of attempts.
type facts map[cluster.AttemptID]sched.Progress

func (f facts) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	p, ok := f[id]
	return p, ok
}

// newScene returns a cluster of machines m0, m1, … with equal slots.
func newScene(t testing.TB, conf Config, machines, maps, reduces int) *scene {
	s := &scene{schedtest.New(t), New(conf), make(facts)}
	s.Cluster.Now, s.Cluster.SoftState = 1000, s.facts
	for i := range machines {
		s.Join(fmt.Sprintf("m%d", i), maps, reduces)
	}
	s.Reset(s.Cluster.Now, s.PolicyView())
	return s
}

// do applies a command at a time, which must not go back.
func (s *scene) do(at int64, c cluster.Command) cluster.Delta {
	s.T.Helper()
	s.Cluster.Now = at - 1
	delta := s.Apply(c)
	s.Observe(at, s.PolicyView(), delta)
	return delta
}

// submit starts a job at a time.
func (s *scene) submit(at int64, maps, reduces int) *cluster.Job {
	return s.submitSpec(at, schedtest.Spec(dag.MapReduce(maps, reduces)))
}

func (s *scene) submitSpec(at int64, spec cluster.JobSpec) *cluster.Job {
	s.T.Helper()
	id := s.do(at, cluster.SubmitJob{Spec: spec}).Submitted
	var splits []cluster.Split
	for _, stage := range spec.Graph.Stages {
		for n := 0; n < stage.Nodes && spec.Graph.IsSource(stage.Name); n++ {
			splits = append(splits, cluster.Split{Bytes: 100, Range: dag.Range{End: dag.Position{Offset: 100}}})
		}
	}
	if err := s.State.Load(id, splits); err != nil {
		s.T.Fatal(err)
	}
	s.do(at, cluster.StartJob{Job: id})
	return s.View().Job(id)
}

// decide applies the plan of the policy at a time, once.
func (s *scene) decide(at int64) sched.Plan {
	s.T.Helper()
	plan := s.Decide(at, s.PolicyView())
	for _, c := range plan.Commands(s.View()) {
		s.do(at, c)
	}
	return plan
}

// settle applies plans until one is empty.
func (s *scene) settle(at int64) {
	s.T.Helper()
	for range 100 {
		plan := s.decide(at)
		if len(plan.Commands(s.View())) == 0 {
			return
		}
		for _, p := range plan.Preempts {
			s.gone(at, p.Attempt)
		}
	}
	s.T.Fatalf("at %d it plans without end", at)
}

// gone ends an attempt that was ordered to end.
func (s *scene) gone(at int64, id cluster.AttemptID) {
	if _, _, a, ok := s.View().Attempt(id); ok && !a.Active() && a.OnMachine() {
		s.do(at, cluster.ExitAttempt{Attempt: id})
	}
}

// attempts returns those of a phase with slots, by start.
func (s *scene) attempts(j *cluster.Job, kind cluster.Slot) (out []*cluster.Attempt) {
	for m := range s.View().Machines() {
		for _, a := range m.Attempts {
			if a.ID.Task.Job == j.ID && a.Slot == kind && a.Active() && !a.Suspended() {
				out = append(out, a)
			}
		}
	}
	return out
}

// finish ends the given number of attempts of a phase with success; -1 is all.
func (s *scene) finish(at int64, j *cluster.Job, kind cluster.Slot, count int) {
	s.T.Helper()
	for i, a := range s.attempts(j, kind) {
		if i != count {
			_, t, _, _ := s.View().Attempt(a.ID)
			s.do(at, cluster.FinishAttempt{Attempt: a.ID, Range: t.Range})
			continue
		}
		return
	}
}

// tell lets all running attempts report a fraction.
func (s *scene) tell(at int64, fraction float64) {
	for m := range s.View().Machines() {
		for _, a := range m.Attempts {
			s.facts[a.ID] = sched.Progress{ReportedAt: at, Fraction: fraction}
		}
	}
}

// phaseOf returns a phase of a job.
func (s *scene) phaseOf(j *cluster.Job, kind cluster.Slot) *phase {
	return s.phases[phaseID{j.ID, kind}]
}

// want checks what jobs run, "maps/reduces" each, in order.
func (s *scene) want(what string, wanted ...string) {
	s.T.Helper()
	var got []string
	for j := range s.View().Jobs() {
		got = append(got, fmt.Sprintf("%d/%d", len(s.attempts(j, cluster.MapSlot)), len(s.attempts(j, cluster.ReduceSlot))))
	}
	if strings.Join(got, " ") != strings.Join(wanted, " ") {
		s.T.Errorf("%s: jobs run %v, want %v", what, got, wanted)
	}
}

// wantSize checks the size of a phase in ms, and where it comes from.
func (s *scene) wantSize(what string, j *cluster.Job, kind cluster.Slot, ms float64, found sizeSource) {
	s.T.Helper()
	if p := s.phaseOf(j, kind); p == nil || !p.entered || !near(p.size, ms) || p.sized != found {
		s.T.Errorf("%s: the %v phase of %v has size %+v, want %v, %v", what, kind, j.ID, p, ms, found)
	}
}

var (
	waits    = preempt.Config{Map: preempt.Wait, Reduce: preempt.Wait}
	suspends = preempt.Config{Map: preempt.Suspend, Reduce: preempt.Suspend}
	kills    = preempt.Config{Map: preempt.Kill, Reduce: preempt.Kill}
)

// blind places tasks without locality.
var blind = sched.Placement{Method: sched.None}
