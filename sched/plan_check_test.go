package sched_test

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// TestPlanCheck checks plans on a machine with two map slots, of which one is free: one attempt runs, and one is
// suspended.
func TestPlanCheck(t *testing.T) {
	c := schedtest.New(t)
	c.Join("m", 2, 1)
	c.Join("gone", 2, 1)
	c.Apply(cluster.ExpireMachine{Name: "gone", Epoch: c.View().Machine("gone").Epoch})
	j := c.Run(schedtest.Spec(dag.MapReduce(5, 1)))
	suspended := c.Start(j, 0, 0, "m")
	c.Apply(cluster.PreemptAttempt{Attempt: suspended, Mode: preempt.Suspend})
	running := c.Start(j, 0, 1, "m")
	start := func(n int, machine string) sched.Start {
		return sched.Start{Task: j.Stages[0].Tasks[n].ID, Machine: machine}
	}
	for name, tt := range map[string]struct {
		plan sched.Plan
		want string
	}{
		"nothing":   {},
		"a start":   {plan: sched.Plan{Starts: []sched.Start{start(2, "m")}, Preempts: []sched.Preempt{{Attempt: running, Mode: preempt.Kill}}}},
		"a resume":  {plan: sched.Plan{Resumes: []cluster.AttemptID{suspended}}},
		"both":      {sched.Plan{Starts: []sched.Start{start(2, "m")}, Resumes: []cluster.AttemptID{suspended}}, "takes 2 map slots"},
		"two":       {sched.Plan{Starts: []sched.Start{start(2, "m"), start(3, "m")}}, "takes 2 map slots"},
		"one twice": {sched.Plan{Starts: []sched.Start{start(2, "m"), start(2, "m")}}, "names " + j.Stages[0].Tasks[2].ID.String() + " twice"},
		"a bundle":  {sched.Plan{Starts: []sched.Start{start(2, "m")}, Bundles: []sched.BundleStart{{Job: j.ID, Starts: []sched.Start{start(2, "m")}}}}, "twice"},
		"running":   {sched.Plan{Starts: []sched.Start{start(1, "m")}}, "which is"},
		"too early": {sched.Plan{Starts: []sched.Start{{Task: j.Stages[1].Tasks[0].ID, Machine: "m"}}}, "whose job or stage cannot run"},
		"unknown":   {sched.Plan{Starts: []sched.Start{{Machine: "m"}}}, "whose job or stage cannot run"},
		"lost":      {sched.Plan{Starts: []sched.Start{start(2, "gone")}}, "on gone, which takes no tasks"},
		"no such":   {sched.Plan{Starts: []sched.Start{start(2, "x")}}, "on x, which takes no tasks"},
		"again":     {sched.Plan{Resumes: []cluster.AttemptID{running}}, "which is not suspended"},
		"ended":     {sched.Plan{Preempts: []sched.Preempt{{Mode: preempt.Kill}}}, "which does not run"},
		"taken":     {sched.Plan{Preempts: []sched.Preempt{{Attempt: running, Mode: preempt.Kill}, {Attempt: running, Mode: preempt.Suspend}}}, "twice"},
	} {
		err := tt.plan.Check(c.PolicyView())
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
