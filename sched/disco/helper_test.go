package disco

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// fixture is a cluster under the policy that a test drives by hand.
type fixture struct {
	*schedtest.Cluster
	policy *Policy
}

// newFixture returns a cluster of machines m0, m1, … with equal slots.
func newFixture(t testing.TB, conf Config, machines, maps, reduces int) *fixture {
	s := &fixture{Cluster: schedtest.New(t), policy: New(conf)}
	s.SoftState = schedtest.FullKnowledge{}
	for i := range machines {
		s.Join(fmt.Sprintf("m%d", i), maps, reduces)
	}
	s.policy.Reset(s.Now, s.PolicyView())
	return s
}

func (s *fixture) do(c cluster.Command) cluster.Delta {
	s.T.Helper()
	delta := s.Apply(c)
	s.policy.Observe(s.Now, s.PolicyView(), delta)
	return delta
}

// submit starts a job whose reduces wait for all maps.
func (s *fixture) submit(g dag.Graph) *cluster.Job {
	s.T.Helper()
	id := s.do(cluster.SubmitJob{Spec: schedtest.Spec(g)}).Submitted
	must.Do(s.T, s.State.Load(id, make([]cluster.Split, g.Stages[0].Nodes)))
	s.do(cluster.StartJob{Job: id})
	return s.View().Job(id)
}

func (s *fixture) maps(n int) *cluster.Job { s.T.Helper(); return s.submit(dag.MapReduce(n, 0)) }

// decide returns the plan of the policy now.
func (s *fixture) decide() sched.Plan { return s.policy.Decide(s.Now, s.PolicyView()) }

// settle applies plans until one is empty, and returns what was preempted, by number of job.
func (s *fixture) settle() (preempted map[int]int) {
	s.T.Helper()
	preempted = make(map[int]int)
	for {
		plan := s.decide()
		all := plan.Commands(s.View())
		if len(all) == 0 {
			return preempted
		}
		for _, p := range plan.Preempts {
			preempted[p.Attempt.Task.Job.Number]++
		}
		for _, c := range all {
			s.do(c)
		}
	}
}

// clear ends the attempts that are ordered to end.
func (s *fixture) clear() {
	s.T.Helper()
	for m := range s.View().Machines() {
		for _, a := range slices.Clone(m.Attempts) {
			if !a.Active() {
				s.do(cluster.ExitAttempt{Attempt: a.ID})
			}
		}
	}
}

// finish ends running tasks of a stage, the oldest first.
func (s *fixture) finish(stage *cluster.Stage, n int) {
	s.T.Helper()
	for _, t := range stage.Tasks {
		if n > 0 && t.State == cluster.TaskRunning {
			id := t.Attempts[len(t.Attempts)-1].ID
			s.do(cluster.FinishAttempt{Attempt: id, Range: t.Range})
			s.do(cluster.ExitAttempt{Attempt: id})
			n--
		}
	}
	if n > 0 {
		s.T.Fatalf("%d tasks too few run", n)
	}
}

// running returns how many tasks of the first stage of each job run.
func (s *fixture) running() (n []int) {
	for j := range s.View().Jobs() {
		n = append(n, j.Stages[0].Running)
	}
	return n
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// placements lists all placement methods.
var placements = []sched.Placement{
	{},
	{Patience: 100},
	{Method: sched.Delay, Delay: locality.Delay{MachineWait: 30, RackWait: 40}},
	{Method: sched.None},
}

// config lists preemption configurations.
var config = []preempt.Config{
	{},
	{Map: preempt.Split, Reduce: preempt.Suspend},
	{Map: preempt.Suspend, Reduce: preempt.Checkpoint},
	{Map: preempt.Auto, Reduce: preempt.Auto},
}
