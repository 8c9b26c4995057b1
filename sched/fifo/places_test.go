package fifo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/sched"
)

// plan lists the starts of p, in order of tasks.
func (w *testCluster) plan(placement sched.Placement) (out []string) {
	p := New(placement)
	p.Reset(w.Now, seen(w.State.View()))
	for _, s := range p.Decide(w.Now, seen(w.State.View())).Starts {
		level := ""
		switch {
		case s.Local:
			level = " local"
		case s.RackLocal:
			level = " rack"
		}
		out = append(out, fmt.Sprintf("%d%s%d@%s%s", s.Task.Job.Number, s.Task.Stage, s.Task.Number, s.Machine, level))
	}
	slices.Sort(out)
	return out
}

func (w *testCluster) wantPlan(placement sched.Placement, want ...string) {
	w.T.Helper()
	if got := w.plan(placement); !slices.Equal(got, want) {
		w.T.Errorf("%+v: plan is %q, want %q", placement, got, want)
	}
}

func TestRacks(t *testing.T) {
	w := newTestCluster(t)
	for _, m := range []cluster.JoinMachine{
		{Name: "a", Hosts: []string{"10.0.0.1"}, Rack: "/1", Slots: cluster.Slots{0, 1}},
		{Name: "b", Hosts: []string{"10.0.0.2"}, Slots: cluster.Slots{1, 1}},
		{Name: "c", Hosts: []string{"10.0.0.3"}, Rack: "/2", Slots: cluster.Slots{2, 1}},
	} {
		w.Apply(m)
	}
	w.submit(0, 0, "10.0.0.1", "c", "stranger")
	racks := map[string]string{"10.0.0.2": "/1", "stranger": "/2"}
	w.wantPlan(sched.Placement{Racks: racks}, "1m0@b rack", "1m1@c local", "1m2@c rack")
	w.wantPlan(sched.Placement{}, "1m0@b", "1m1@c local", "1m2@c")
	w.wantPlan(sched.Placement{Method: sched.None, Racks: racks}, "1m0@b rack", "1m1@c local", "1m2@c rack")
	w.wantPlan(sched.Placement{Method: sched.None}, "1m0@b", "1m1@c local", "1m2@c")
}

// TestJobsArePlacedByOneFlow checks a first job whose tasks may run on two machines, and a
// second job that needs one of them.
func TestJobsArePlacedByOneFlow(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.Join("b", 1, 0)
	delta := w.Apply(cluster.SubmitJob{Spec: spec(1, 0)})
	must.Do(t, w.State.Load(delta.Submitted, []cluster.Split{{Hosts: []string{"a", "b"}}}))
	w.Apply(cluster.StartJob{Job: delta.Submitted})
	w.submit(0, 0, "a")
	w.wantPlan(sched.Placement{}, "1m0@b local", "2m0@a local")
	w.wantPlan(sched.Placement{Method: sched.None}, "1m0@a local", "2m0@b rack")
}

func TestJobChoosesPlacement(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.Join("b", 1, 0)
	s := spec(1, 0)
	s.Placement = "none"
	delta := w.Apply(cluster.SubmitJob{Spec: s})
	must.Do(t, w.State.Load(delta.Submitted, []cluster.Split{{Hosts: []string{"b"}}}))
	w.Apply(cluster.StartJob{Job: delta.Submitted})
	w.wantPlan(sched.Placement{}, "1m0@a rack")
}

func TestReducesFollowTheirInput(t *testing.T) {
	w := newTestCluster(t)
	for _, name := range []string{"a", "b", "c"} {
		w.Join(name, 2, 2)
	}
	delta := w.Apply(cluster.SubmitJob{Spec: spec(3, 4)})
	job := delta.Submitted
	must.Do(t, w.State.Load(job, make([]cluster.Split, 3)))
	w.Apply(cluster.StartJob{Job: job})
	observer := New(sched.Placement{})
	observer.Reset(w.Now, seen(w.State.View()))
	for n, machine := range []string{"b", "c", "c"} {
		id := cluster.TaskID{Job: job, Stage: "m", Number: n}
		w.Apply(cluster.StartAttempt{Task: id, Machine: machine})
		d := w.Apply(cluster.FinishAttempt{Attempt: cluster.AttemptID{Task: id}, Output: cluster.Manifest{Bytes: 100}})
		observer.Observe(w.Now, seen(w.State.View()), d)
		observer.Decide(w.Now, seen(w.State.View()))
	}
	w.wantPlan(sched.Placement{}, "1r0@c", "1r1@b", "1r2@a", "1r3@c")
	if starts := observer.Decide(w.Now, seen(w.State.View())).Starts; len(starts) != 4 || starts[0].Machine != "c" {
		t.Errorf("a policy that has watched the maps says %v", starts)
	}
}

func TestFailedTasksAvoidTheMachine(t *testing.T) {
	for _, placement := range placements {
		w := newTestCluster(t)
		w.Join("a", 1, 1)
		w.Join("b", 1, 1)
		w.Join("c", 0, 1) // alive, but without map slots
		job := w.submit(0, 0, "a")
		fail := func(machine string, number int) {
			id := cluster.TaskID{Job: job, Stage: "m"}
			w.Apply(cluster.StartAttempt{Task: id, Machine: machine})
			w.Apply(cluster.FailAttempt{Attempt: cluster.AttemptID{Task: id, Number: number}, Failure: cluster.Failure{Cause: "test"}})
		}
		fail("a", 0)
		w.Now += 1000 // longer than any delay
		w.wantPlan(placement, "1m0@b rack")
		fail("b", 1)
		w.Now += 1000
		if plan := w.plan(placement); len(plan) != 1 {
			t.Errorf("%+v: a task that has failed on both machines gets %q", placement, plan)
		}
	}
}

// TestManyTasks checks that the candidates give the same result as all tasks would: every
// machine with local tasks gets its local tasks.
func TestManyTasks(t *testing.T) {
	const maps = 5000
	for _, placement := range placements {
		w := newTestCluster(t)
		hosts := make([]string, maps)
		for i := range hosts {
			hosts[i] = fmt.Sprintf("m%d", 9-i*10/maps) // the first tasks are on the last machine
		}
		for i := range 11 {
			w.Join(fmt.Sprintf("m%d", i), 3, 0)
		}
		w.submit(0, 0, hosts...)
		local := 0
		p := New(placement)
		p.Reset(w.Now, seen(w.State.View()))
		starts := p.Decide(w.Now, seen(w.State.View())).Starts
		for _, s := range starts {
			if s.Local {
				local++
			}
		}
		if placement.Method != sched.None && local != 30 || placement.Method != sched.Delay && len(starts) != 33 {
			t.Errorf("%+v: %d starts, %d local", placement, len(starts), local)
		}
	}
}
