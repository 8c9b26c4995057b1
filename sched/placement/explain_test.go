package placement_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sched/placement"
	"github.com/hammr/hammr/sched/schedtest"
)

// TestCandidates checks a map with a split on b that was checkpointed on c or has failed on
// b.
func TestCandidates(t *testing.T) {
	for name, tt := range map[string]struct {
		then func(id cluster.AttemptID) cluster.Command
		want []string
	}{
		"running": {
			func(cluster.AttemptID) cluster.Command { return cluster.SetPolicy{Name: "fifo"} }, // which changes nothing here
			[]string{"b node", "a rack"},
		},
		"checkpointed": {
			func(id cluster.AttemptID) cluster.Command { return cluster.CheckpointAttempt{Attempt: id} },
			[]string{"c home rack", "b node", "a rack"},
		},
		"failed": {
			func(id cluster.AttemptID) cluster.Command { return cluster.FailAttempt{Attempt: id} },
			[]string{"b node", "a rack", "c rack avoided"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := schedtest.New(t)
			for _, m := range []string{"a", "b", "c"} {
				w.Join(m, 1, 0)
			}
			j := w.Run(schedtest.Spec(dag.MapReduce(1, 0)), "b")
			id := w.Start(j, 0, 0, "c")
			w.Apply(tt.then(id))
			var got []string
			for _, s := range placement.Candidates(w.Now, w.View(), nil, id.Task) {
				line := s.Machine
				if s.HasCheckpoint {
					line += " home"
				}
				line += fmt.Sprintf(" %v", s.Level)
				if s.Avoided {
					line += " avoided"
				}
				got = append(got, line)
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}
