package hfsp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// fixture is a cluster under HFSP that observes every change.
type fixture struct {
	*schedtest.Cluster
	*Policy
	progress progress
}

// progress contains the progress reports of attempts.
type progress map[cluster.AttemptID]sched.Progress

func (f progress) Progress(id cluster.AttemptID) (sched.Progress, bool) {
	p, ok := f[id]
	return p, ok
}

// newFixture returns a cluster of machines m0, m1, … with equal slots.
func newFixture(t testing.TB, conf Config, machines, maps, reduces int) *fixture {
	s := &fixture{schedtest.New(t), New(conf), make(progress)}
	s.Cluster.Now, s.Cluster.SoftState = 1000, s.progress
	for i := range machines {
		s.Join(fmt.Sprintf("m%d", i), maps, reduces)
	}
	s.Reset(s.Cluster.Now, s.PolicyView())
	return s
}

// do applies a command at a time, which must not go back.
func (s *fixture) do(at int64, c cluster.Command) cluster.Delta {
	s.T.Helper()
	s.Cluster.Now = at - 1
	delta := s.Apply(c)
	s.Observe(at, s.PolicyView(), delta)
	return delta
}

// submit starts a job at a time.
func (s *fixture) submit(at int64, maps, reduces int) *cluster.Job {
	return s.submitSpec(at, schedtest.Spec(dag.MapReduce(maps, reduces)))
}

func (s *fixture) submitSpec(at int64, spec cluster.JobSpec) *cluster.Job {
	s.T.Helper()
	id := s.do(at, cluster.SubmitJob{Spec: spec}).Submitted
	var splits []cluster.Split
	for _, stage := range spec.Graph.Stages {
		for n := 0; n < stage.Nodes && spec.Graph.IsSource(stage.Name); n++ {
			splits = append(splits, cluster.Split{Bytes: 100, Range: dag.Range{End: dag.Position{Offset: 100}}})
		}
	}
	must.Do(s.T, s.State.Load(id, splits))
	s.do(at, cluster.StartJob{Job: id})
	return s.View().Job(id)
}

// decide applies the plan of the policy at a time, once.
func (s *fixture) decide(at int64) sched.Plan {
	s.T.Helper()
	plan := s.Decide(at, s.PolicyView())
	for _, c := range plan.Commands(s.View()) {
		s.do(at, c)
	}
	return plan
}

// settle applies plans until one is empty.
func (s *fixture) settle(at int64) {
	s.T.Helper()
	for range 100 {
		plan := s.decide(at)
		if len(plan.Commands(s.View())) == 0 {
			return
		}
		for _, p := range plan.Preempts {
			s.lost(at, p.Attempt)
		}
	}
	s.T.Fatalf("at %d it plans without end", at)
}

// lost ends an attempt that was ordered to end.
func (s *fixture) lost(at int64, id cluster.AttemptID) {
	if _, _, a, ok := s.View().Attempt(id); ok && !a.Active() && a.OnMachine() {
		s.do(at, cluster.ExitAttempt{Attempt: id})
	}
}

// attempts returns the attempts of a phase that have slots, by start.
func (s *fixture) attempts(j *cluster.Job, kind cluster.Slot) (out []*cluster.Attempt) {
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
func (s *fixture) finish(at int64, j *cluster.Job, kind cluster.Slot, count int) {
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

// reportProgress lets all running attempts report a fraction.
func (s *fixture) reportProgress(at int64, fraction float64) {
	for m := range s.View().Machines() {
		for _, a := range m.Attempts {
			s.progress[a.ID] = sched.Progress{ReportedAt: at, Fraction: fraction}
		}
	}
}

// phaseOf returns a phase of a job.
func (s *fixture) phaseOf(j *cluster.Job, kind cluster.Slot) *phase {
	return s.phases[phaseID{j.ID, kind}]
}

// want checks what jobs run, "maps/reduces" each, in order.
func (s *fixture) want(what string, wanted ...string) {
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
func (s *fixture) wantSize(what string, j *cluster.Job, kind cluster.Slot, ms float64, found sizeSource) {
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
