package jobmaster

import (
	"time"

	"github.com/hammr/hammr/sched"
)

// considered is the plan that the policy would make now, for explanations. To make one takes as long as
// a decision, so explanations share it, and at most considerations of them are made in a second.
// Previews of other policies count too.
type considered struct {
	plan    sched.Plan
	at      int64                 // when plan was made, ms since the epoch; 0 for none
	applied int                   // entries that were applied then
	made    [considerations]int64 // times of the latest ones, the oldest first
}

const (
	considerations = 2
	considerMillis = 1000
)

// spend notes that the policy is asked. It returns an OverloadError if that was done too often in the
// last second.
func (c *considered) spend(now int64) error {
	if wait := c.made[0] + considerMillis - now; c.made[0] != 0 && wait > 0 {
		return &OverloadError{What: "the policy was asked twice in this second", RetryAfter: time.Duration(wait) * time.Millisecond}
	}
	copy(c.made[:], c.made[1:])
	c.made[considerations-1] = now
	return nil
}

// consider returns what the policy would do, and when it was asked, in ms since the epoch: now, unless
// nothing has changed in this second, or the policy was asked too often.
func (m *Master) consider() (sched.Plan, int64) {
	c, now := &m.lead.considered, m.now()
	if c.at != 0 && (c.applied == m.lead.applied && now-c.at < considerMillis || c.spend(now) != nil) {
		return c.plan, c.at
	}
	c.plan, c.at, c.applied = m.brain.Consider(now), now, m.lead.applied
	return c.plan, c.at
}
