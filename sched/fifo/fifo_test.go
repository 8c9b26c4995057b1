package fifo

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
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
	must.Do(w.T, w.State.Load(delta.Submitted, splits))
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
