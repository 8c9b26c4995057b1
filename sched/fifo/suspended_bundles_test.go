package fifo

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// gang starts a gang of one map on a and one reduce on b.
func (w *testCluster) gang(priority int) (j *cluster.Job, starts []cluster.StartAttempt) {
	w.T.Helper()
	j = w.run(priority, schedtest.Streamed(1, 1))
	for i, t := range j.Bundles[0].TasksOf(0) {
		starts = append(starts, cluster.StartAttempt{Task: t.ID, Machine: []string{"a", "b"}[i], Range: j.RangeOf(t)})
	}
	w.Apply(cluster.StartBundle{Job: j.ID, Starts: starts})
	return j, starts
}

// suspended starts a gang and suspends it.
func (w *testCluster) suspended(priority int) *cluster.Job {
	w.T.Helper()
	j, starts := w.gang(priority)
	w.Apply(cluster.PreemptAttempt{Attempt: cluster.AttemptID{Task: starts[1].Task}, Mode: preempt.Suspend})
	return j
}

// TestSuspendedBundles checks that suspended bundles resume as a whole, on their machines.
// Of the slots that they need, the free ones are reserved, so that later jobs do not get
// them.
func TestSuspendedBundles(t *testing.T) {
	for _, tt := range []struct {
		name  string
		build func(w *testCluster)
		want  []string
	}{
		{"all of it", func(w *testCluster) {
			w.join2(1, 1)
			w.suspended(0)
		}, []string{"{1m.0, 1r.0 resume}"}},
		{"before those that come later", func(w *testCluster) {
			w.join2(1, 1)
			w.suspended(0)
			w.run(0, dag.MapReduce(3, 0))
		}, []string{"2m.0@b", "{1m.0, 1r.0 resume}"}},
		{"after those whose turn is before, and the other slot is held", func(w *testCluster) {
			w.Join("a", 1, 0)
			w.Join("b", 0, 1)
			w.suspended(0)
			w.run(1, dag.MapReduce(1, 0))
			w.run(0, dag.MapReduce(0, 1))
		}, []string{"2m.0@a"}},
		{"nothing is reserved where it could never resume", func(w *testCluster) {
			w.join2(1, 1)
			w.suspended(0)
			w.Join("b", 1, 0)
			w.run(0, dag.MapReduce(2, 0))
		}, []string{"2m.0@a", "2m.1@b"}},
		{"not while its job is suspended", func(w *testCluster) {
			w.join2(1, 1)
			w.Apply(cluster.SuspendJob{Job: w.suspended(0).ID})
		}, nil},
		{"writers for readers in its slots keep starting", func(w *testCluster) {
			w.Join("a", 1, 1)
			w.Join("b", 0, 1)
			w.suspended(1)
			early := w.run(0, dag.MapReduce(1, 1))
			w.Start(early, 1, 0, "b")
		}, []string{"2m.0@a"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newTestCluster(t)
			tt.build(w)
			if got := w.whole(sched.Placement{}); !slices.Equal(got, tt.want) {
				t.Errorf("plan is\n%q, want\n%q", got, tt.want)
			}
		})
	}
}
