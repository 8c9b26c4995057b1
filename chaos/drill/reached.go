package drill

import (
	"strings"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// countReached adds the paths of recovery that a job has reached, as its last status shows them.
func countReached(to chaos.Reached, s *wire.JobStatus) {
	for _, t := range s.GetTasks() {
		succeeded := int64(-1)
		for i, a := range t.Attempts {
			another := i+1 < len(t.Attempts)
			switch a.State {
			case wire.AttemptState_ATTEMPT_SUCCEEDED:
				succeeded++
			case wire.AttemptState_ATTEMPT_PREEMPTED:
				if !a.WorkLost {
					to.Add(chaos.ResumedWork, 1)
				}
			case wire.AttemptState_ATTEMPT_FAILED, wire.AttemptState_ATTEMPT_KILLED:
				switch {
				case strings.HasSuffix(a.Cause, a.Machine+" is lost"), strings.HasSuffix(a.Cause, a.Machine+" has restarted"):
					to.Add(chaos.LostAttempt, 1)
				case another && a.State == wire.AttemptState_ATTEMPT_FAILED:
					to.Add(chaos.FailedAttempt, 1)
				}
			}
		}
		to.Add(chaos.LostOutput, succeeded)
	}
	for _, c := range s.GetCounters() {
		if c.Name == counter.FailedShuffles.Name {
			to.Add(chaos.RepeatedFetch, c.Value)
		}
	}
}
