package fifo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// run starts a job of a graph. Splits beyond hosts have no location.
func (w *testCluster) run(priority int, g dag.Graph, hosts ...string) *cluster.Job {
	w.T.Helper()
	s := withPriority(spec(0, 0), priority)
	s.Graph, s.SlowStartPPM = g, 0
	return w.Run(s, hosts...)
}

// whole formats the plan of a new policy, bundles in braces.
func (w *testCluster) whole(placement sched.Placement) []string {
	p := New(placement)
	p.Reset(w.Now, seen(w.State.View()))
	return schedtest.Lines(p.Decide(w.Now, seen(w.State.View())))
}

// join2 adds machines a and b with equal slots.
func (w *testCluster) join2(maps, reduces int) {
	w.Join("a", maps, reduces)
	w.Join("b", maps, reduces)
}

func TestBundles(t *testing.T) {
	tests := []struct {
		name  string
		build func(w *testCluster)
		want  []string
	}{
		{"whole, on the machine of their input", func(w *testCluster) {
			w.join2(2, 2)
			w.run(0, schedtest.Streamed(2, 1), "b", "b")
		}, []string{"{1m.0@b local, 1m.1@b local, 1r.0@b}"}},
		{"on several machines when one is full", func(w *testCluster) {
			w.join2(1, 1)
			w.run(0, schedtest.Streamed(2, 1), "b")
		}, []string{"{1m.0@b local, 1m.1@a, 1r.0@a}"}},
		{"in the order of jobs, others get what is left", func(w *testCluster) {
			w.join2(2, 1)
			w.run(0, schedtest.Streamed(1, 1))
			w.run(1, dag.MapReduce(1, 0))
			w.run(0, dag.MapReduce(9, 0))
		}, []string{"2m.0@a", "3m.0@a", "3m.1@b", "{1m.0@b, 1r.0@b}"}},
		{"two gangs of one job, each half of the cluster", func(w *testCluster) {
			w.join2(2, 1)
			w.run(0, dag.Graph{
				Stages: []dag.Stage{{Name: "a", Nodes: 2}, {Name: "b", Nodes: 1}, {Name: "c", Nodes: 2}, {Name: "d", Nodes: 1}},
				Edges:  []dag.Edge{{From: "a", To: "b", Channel: dag.ChannelTCP}, {From: "c", To: "d", Channel: dag.ChannelTCP}},
			})
		}, []string{"{1s0.0@a, 1s0.1@a, 1s1.0@a}", "{1s2.0@b, 1s2.1@b, 1s3.0@b}"}},
		{"many of a class, as far as slots go", func(w *testCluster) {
			w.join2(2, 1)
			w.run(0, schedtest.Pairs(3))
			w.run(0, dag.MapReduce(9, 0))
		}, []string{"2m.0@b", "{1m.0@a, 1r.0@a}", "{1m.1@b, 1r.1@b}"}},
		{"a bundle that never fits does not block others", func(w *testCluster) {
			w.Join("a", 2, 1)
			w.run(1, schedtest.Streamed(1, 2))
			w.run(0, dag.MapReduce(1, 0))
		}, []string{"2m.0@a"}},
		{"held slots are only as many as are needed", func(w *testCluster) {
			w.join2(2, 2)
			busy := w.run(0, dag.MapReduce(2, 0))
			w.Start(busy, 0, 0, "a")
			w.Start(busy, 0, 1, "b")
			w.run(0, schedtest.Streamed(3, 1))
			w.run(0, dag.MapReduce(1, 0))
			w.run(0, dag.MapReduce(0, 9))
		}, []string{"4r.0@b", "4r.1@a", "4r.2@b"}},
		{"all that may be of use are held for groups of several slots", func(w *testCluster) {
			w.Join("a", 3, 0)
			w.Join("b", 2, 0)
			busy := w.run(0, dag.MapReduce(3, 0))
			w.Start(busy, 0, 0, "a")
			w.Start(busy, 0, 1, "a")
			w.Start(busy, 0, 2, "b")
			w.run(0, schedtest.TwoSlotGroups(1))
			w.run(0, dag.MapReduce(9, 0))
		}, nil},
		{"slots that will never be of use are given to others", func(w *testCluster) {
			w.join2(3, 0)
			w.run(0, schedtest.TwoSlotGroups(9), "b", "b", "a")
			w.run(0, dag.MapReduce(9, 0))
		}, []string{"2m.0@a", "2m.1@b", "{1s0.2@a local}", "{1s0.1@b local}"}},
		{"writers for readers in awaited slots keep starting", func(w *testCluster) {
			w.Join("a", 1, 1)
			early := w.run(0, dag.MapReduce(1, 1))
			w.Start(early, 1, 0, "a")
			w.run(1, schedtest.Streamed(1, 1))
			w.run(0, dag.MapReduce(1, 0))
		}, []string{"1m.0@a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestCluster(t)
			tt.build(w)
			if got := w.whole(sched.Placement{}); !slices.Equal(got, tt.want) {
				t.Errorf("plan is\n%q, want\n%q", got, tt.want)
			}
		})
	}
}

// TestGangsAvoidMachines checks a gang with one task that has failed on a.
func TestGangsAvoidMachines(t *testing.T) {
	for want, build := range map[string]func(w *testCluster){
		"[{1m.0@b rack, 1r.0@b}]": func(w *testCluster) { w.join2(1, 1) },
		"[{1m.0@a local, 1r.0@a}]": func(w *testCluster) {
			w.Join("a", 1, 1)
			w.Join("b", 0, 1) // the gang cannot use it
		},
		"[]": func(w *testCluster) { // b has free slots soon
			w.join2(1, 1)
			w.Start(w.run(1, dag.MapReduce(1, 0)), 0, 0, "b")
		},
	} {
		w := newTestCluster(t)
		gang := w.run(0, schedtest.Streamed(1, 1), "a")
		build(w)
		start := cluster.StartBundle{Job: gang.ID}
		for _, s := range gang.Stages {
			start.Starts = append(start.Starts, cluster.StartAttempt{Task: s.Tasks[0].ID, Machine: "a"})
		}
		w.Apply(start)
		for n, s := range gang.Stages {
			id := cluster.AttemptID{Task: s.Tasks[0].ID}
			if n == 0 {
				w.Apply(cluster.FailAttempt{Attempt: id, Failure: cluster.Failure{Cause: "test"}})
			} else {
				w.Apply(cluster.ExitAttempt{Attempt: id})
			}
		}
		w.run(0, dag.MapReduce(9, 0))
		got := w.whole(sched.Placement{})
		got = slices.DeleteFunc(got, func(line string) bool { return want != "[]" && line[0] != '{' })
		if fmt.Sprint(got) != want {
			t.Errorf("plan is %q, want %s", got, want)
		}
	}
}

func TestGroupsOfSeveralSlotsArePlacedByAllMethods(t *testing.T) {
	for _, placement := range placements {
		w := newTestCluster(t)
		w.join2(4, 0)
		w.run(0, schedtest.TwoSlotGroups(3), "b", "b", "a")
		w.Now += 1000 // longer than any delay
		got := w.whole(placement)
		slices.Sort(got)
		want := []string{"{1s0.0@b local}", "{1s0.1@b local}", "{1s0.2@a local}"}
		if placement.Method == sched.None {
			want = []string{"{1s0.0@a rack}", "{1s0.1@b local}", "{1s0.2@a local}"}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%+v: plan is %q, want %q", placement, got, want)
		}
	}
}
