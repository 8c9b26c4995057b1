package cluster

import (
	"testing"

	"github.com/hammr/hammr/dag"
)

// TestStoredOutputOutlivesItsMachine loses the machine of a finished map before its reduce
// has run: the map runs again unless its output is stored.
func TestStoredOutputOutlivesItsMachine(t *testing.T) {
	whole := dag.Range{End: dag.Position{Offset: 100}}
	for _, stored := range []bool{false, true} {
		s := New("1")
		job := submit(1, 1)
		if stored {
			job.Spec.Graph = job.Spec.Graph.Store()
		}
		apply(t, s, job, JoinMachine{Name: "a", Slots: Slots{1, 1}}, JoinMachine{Name: "b", Slots: Slots{1, 1}}, StartJob{job1},
			StartAttempt{Task: mapTask(0), Machine: "a", Range: whole},
			FinishAttempt{Attempt: attemptAt(mapTask(0), 0), Range: whole},
			ExpireMachine{Name: "a", Epoch: 1})
		if finished := s.View().Job(job1).Stages[0].Finished == 1; finished != stored {
			t.Errorf("stored %v: the map is finished: %v", stored, finished)
		}
		if !stored {
			continue
		}
		// If a reader cannot read the stored output, the map runs again all the same.
		apply(t, s, LoseOutput{Attempt: attemptAt(mapTask(0), 0), Cause: "unreadable"})
		if s.View().Job(job1).Stages[0].Finished != 0 {
			t.Error("an unreadable output is not written again")
		}
	}
}
