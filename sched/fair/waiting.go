package fair

import (
	"math"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/ledger"
)

// waitsLong reports whether attempts of a stage wait for input for longer than a suspension
// and a resumption cost them.
func (c *conservation) waitsLong(j *cluster.Job, s *cluster.Stage) bool {
	wait := int64(0)
	for up := range s.Upstream() {
		if !up.Complete() {
			wait = max(wait, c.untilFinished(j, up))
		}
	}
	return wait > c.policy.conf.Preempt.SuspendMillis()
}

// forever stands for the remaining time of tasks of which nothing is known, in ms.
const forever = math.MaxInt64

// untilFinished estimates how long it takes until all tasks of a stage have finished, in ms:
// by what its finished tasks took, and by the progress of its last ones.
func (c *conservation) untilFinished(j *cluster.Job, s *cluster.Stage) (ms int64) {
	if s.Finished == 0 || s.Running == 0 {
		return forever
	}
	mean := s.SlotMillis / int64(s.Finished)
	if waiting := s.ToStart() + s.SuspendedCount(); waiting > 0 {
		return mean * int64(waiting/s.Running+1)
	}
	account := c.policy.ledger.Account(j.ID)
	for id := range account.Attempts {
		_, _, a, ok := c.view.Attempt(id)
		if !ok || id.Task.Stage != s.Code {
			continue
		}
		left := c.finder.Remaining(a)
		if left < 0 {
			left = max(mean-a.SlotTime(c.now), 0)
		}
		ms = max(ms, left)
	}
	return ms
}

// countOf returns how many running attempts of a stage have slots.
func countOf(account *ledger.Account, s *cluster.Stage) (n int) {
	for id, usage := range account.Attempts {
		if id.Task.Stage == s.Code && !usage.Leaving {
			n++
		}
	}
	return n
}
