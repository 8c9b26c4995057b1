package fifo

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
	"pgregory.net/rapid"
)

// testCluster is a cluster that tests drive by hand.
type testCluster struct{ *schedtest.Cluster }

func newTestCluster(t testing.TB) *testCluster { return &testCluster{schedtest.New(t)} }

func spec(maps, reduces int) cluster.JobSpec {
	return schedtest.Spec(dag.MapReduce(maps, reduces))
}

func withPriority(s cluster.JobSpec, priority int) cluster.JobSpec {
	s.Priority = priority
	return s
}

// submit starts a job whose split i is on hosts[i]; "" is unknown.
func (w *testCluster) submit(priority, reduces int, hosts ...string) cluster.JobID {
	w.T.Helper()
	delta := w.Apply(cluster.SubmitJob{Spec: withPriority(spec(len(hosts), reduces), priority)})
	splits := make([]cluster.Split, len(hosts))
	for i, host := range hosts {
		if host != "" {
			splits[i].Hosts = []string{host}
		}
	}
	if err := w.State.Load(delta.Submitted, splits); err != nil {
		w.T.Fatal(err)
	}
	w.Apply(cluster.StartJob{Job: delta.Submitted})
	return delta.Submitted
}

func decide(w *testCluster) []string {
	p := new(Policy)
	p.Reset(w.Now, seen(w.State.View()))
	var out []string
	for _, s := range p.Decide(w.Now, seen(w.State.View())).Starts {
		line := fmt.Sprintf("%d%s%d@%s", s.Task.Job.Number, s.Task.Stage, s.Task.Number, s.Machine)
		if s.Local {
			line += " local"
		}
		out = append(out, line)
	}
	return out
}

func TestDecide(t *testing.T) {
	tests := []struct {
		name  string
		build func(w *testCluster)
		want  []string
	}{
		{"nothing to do", func(w *testCluster) { w.Join("a", 2, 2) }, nil},
		{"no machines", func(w *testCluster) { w.submit(0, 0, "") }, nil},
		{"first job first", func(w *testCluster) {
			w.Join("a", 3, 0)
			w.submit(0, 0, "", "")
			w.submit(0, 0, "", "")
		}, []string{"1m0@a", "1m1@a", "2m0@a"}},
		{"priority before time", func(w *testCluster) {
			w.Join("a", 1, 0)
			w.submit(0, 0, "")
			w.submit(5, 0, "")
		}, []string{"2m0@a"}},
		{"priority changed while waiting", func(w *testCluster) {
			w.Join("a", 1, 0)
			w.submit(0, 0, "")
			late := w.submit(0, 0, "")
			w.Apply(cluster.SetPriority{Job: late, Priority: 1})
		}, []string{"2m0@a"}},
		{"local tasks first, the rest spread", func(w *testCluster) {
			w.Join("a", 2, 0)
			w.Join("b", 2, 0)
			w.submit(0, 0, "", "b", "a", "", "c")
		}, []string{"1m2@a local", "1m1@b local", "1m0@a", "1m3@b"}},
		{"reduces wait for maps", func(w *testCluster) {
			w.Join("a", 1, 1)
			w.submit(0, 1, "", "")
		}, []string{"1m0@a"}},
		{"reduces of a job without maps", func(w *testCluster) {
			w.Join("a", 1, 1)
			w.submit(0, 2)
		}, []string{"1r0@a"}},
		{"a killed job gets nothing", func(w *testCluster) {
			w.Join("a", 1, 0)
			w.Apply(cluster.KillJob{Job: w.submit(0, 0, ""), Cause: "test"})
		}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestCluster(t)
			tt.build(w)
			if got := decide(w); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("plan is %q, want %q", got, tt.want)
			}
		})
	}
}

// TestRandomRuns compares a policy that only observes with one that is reset each time,
// under the same random commands.
func TestRandomRuns(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newTestCluster(t)
		placement := rapid.SampledFrom(placements).Draw(rt, "placement")
		policies := newObservers(placement, 0, seen(w.State.View()))
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			for _, delta := range randomStep(rt, w, policies.Policy) {
				policies.Observe(w.Now, seen(w.State.View()), delta)
			}
			plan := policies.checkSame(rt, w.Now, seen(w.State.View()))
			waits := placement.Method == sched.Delay || placement.Patience > 0
			checkPlan(rt, w.State.View(), plan, waits && policies.NextWake() > w.Now)
		}
	})
}

func randomStep(rt *rapid.T, w *testCluster, p *Policy) (deltas []cluster.Delta) {
	try := func(c cluster.Command) {
		w.Now++
		if delta, err := w.State.Apply(cluster.Entry{At: w.Now / 3, Command: c}); err == nil {
			deltas = append(deltas, delta)
		}
	}
	view := w.State.View()
	jobs := 0
	for range view.Jobs() {
		jobs++
	}
	job := cluster.JobID{Cluster: "1", Number: rapid.IntRange(1, jobs+1).Draw(rt, "job")}
	machine := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "machine")
	switch rapid.IntRange(0, 11).Draw(rt, "verb") {
	case 0:
		try(cluster.JoinMachine{Name: machine, Hosts: []string{machine}, Slots: cluster.Slots{rapid.IntRange(0, 2).Draw(rt, "maps"), 1}})
	case 1, 2:
		try(cluster.SubmitJob{Spec: cluster.JobSpec{
			Graph: dag.MapReduce(rapid.IntRange(1, 9).Draw(rt, "maps"), 1), MaxAttempts: [2]int{2, 2},
			Priority: rapid.IntRange(0, 1).Draw(rt, "priority"),
		}})
	case 3, 4:
		if j := view.Job(job); j != nil {
			splits := make([]cluster.Split, j.Spec.Graph.Stages[0].Nodes)
			for i := range splits {
				splits[i].Hosts = []string{machine}
			}
			if err := w.State.Load(job, splits); err != nil {
				rt.Fatal(err)
			}
		}
		try(cluster.StartJob{Job: job})
	case 5:
		try(cluster.SetPriority{Job: job, Priority: rapid.IntRange(0, 2).Draw(rt, "priority")})
	case 6:
		for _, s := range p.Decide(w.Now, seen(view)).Starts {
			try(cluster.StartAttempt{Task: s.Task, Machine: s.Machine, Local: s.Local, RackLocal: s.RackLocal})
		}
	case 7:
		if m := view.Machine(machine); m != nil && len(m.Attempts) > 0 {
			try(cluster.FinishAttempt{Attempt: m.Attempts[0].ID})
		}
	case 8:
		if m := view.Machine(machine); m != nil && len(m.Attempts) > 0 {
			try(cluster.FailAttempt{Attempt: m.Attempts[0].ID})
		}
	case 9, 10:
		if m := view.Machine(machine); m != nil && len(m.Attempts) > 0 {
			try(cluster.CheckpointAttempt{Attempt: m.Attempts[0].ID})
		}
	case 11:
		if m := view.Machine(machine); m != nil {
			try(cluster.ExpireMachine{Name: machine, Epoch: m.Epoch})
		}
	}
	return deltas
}

// checkPlan checks the invariants of a FIFO plan: no task twice, no more starts than free
// slots, and no slot idle that a waiting task could use, unless tasks wait for better
// machines and the policy wakes later. A task that has failed may wait for another machine.
func checkPlan(rt *rapid.T, view cluster.View, plan sched.Plan, waits bool) {
	type slot struct {
		machine string
		kind    cluster.Slot
	}
	used := make(map[slot]int)
	planned := make(map[cluster.TaskID]bool)
	for _, s := range plan.Starts {
		_, stage, _, ok := view.Task(s.Task)
		if !ok || planned[s.Task] {
			rt.Fatalf("%v is unknown or planned twice", s.Task)
		}
		planned[s.Task] = true
		used[slot{s.Machine, stage.Slot}]++
	}
	idle := map[cluster.Slot]int{}
	for m := range view.Machines() {
		for _, kind := range []cluster.Slot{cluster.MapSlot, cluster.ReduceSlot} {
			left := m.Free(kind) - used[slot{m.Name, kind}]
			if left < 0 && used[slot{m.Name, kind}] > 0 {
				rt.Fatalf("%d too many on %s", -left, m.Name)
			}
			idle[kind] += max(left, 0)
		}
	}
	for j := range view.Jobs() {
		for _, stage := range j.Stages {
			for task := range stage.Pending() {
				if j.Ready(stage) && !planned[task.ID] && task.Charged == 0 && !waits && idle[stage.Slot] > 0 {
					rt.Fatalf("%v waits beside %d idle slots", task.ID, idle[stage.Slot])
				}
			}
		}
	}
}

// seen returns the state as a policy sees it, without soft state.
func seen(view cluster.View) sched.View { return sched.View{View: view} }

// TestSlotOfAnEndingAttemptWaits lets a slot come free by an end that is in the same batch as the
// plan. The slot waits for tasks near to it from then on, not from when it was free before.
func TestSlotOfAnEndingAttemptWaits(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.Join("b", 1, 0)
	j := w.Run(spec(4, 0), "b", "b", "b", "b")
	w.Start(j, 0, 0, "a")
	w.Start(j, 0, 1, "b")
	w.Now += 60_000
	delay := sched.Placement{Method: sched.Delay, Delay: locality.Delay{MachineWait: 100, RackWait: 50}}
	for after, want := range map[int64]int{0: 0, 99: 0, 150: 1} {
		p := New(delay)
		view := seen(w.State.View().Freeing(w.Now, map[string]cluster.Capacity{"a": {Slots: cluster.Slots{1, 0}}}))
		p.Reset(w.Now, view)
		if starts := p.Decide(w.Now+after, view).Starts; len(starts) != want {
			t.Errorf("%d ms after the end: %v", after, starts)
		}
	}
}
