package jobmaster

import "time"

// slew limits how fast the clock approaches the time of day: by one part in slew of the
// time that passes.
const slew = 16

// clock is the loop's time. It advances with the monotonic clock, so setting the
// machine's time of day, forward or back, does not make a tasknode look silent or delay
// a timeout. It approaches the time of day slowly, never stops and never goes back.
//
// Each reading adds the time that has passed on the monotonic clock since the reading
// before, and then corrects the sum towards the time of day by at most one part in slew
// of that time. After a jump of the time of day by d the clock is right again after
// slew·d: a minute is corrected in 16 minutes. As slew is more than 1, the correction
// is smaller than what was added, so values never decrease.
//
// Only the loop uses a clock, so it has no lock.
type clock struct {
	timeOfDay func() time.Time
	readAt    time.Time // with the monotonic reading
	value     time.Time // returned at readAt; without a monotonic reading
}

func newClock(day func() time.Time) *clock {
	return &clock{timeOfDay: day, readAt: time.Now(), value: day().Round(0)}
}

func (c *clock) now() time.Time {
	read := time.Now()
	passed := read.Sub(c.readAt)
	c.readAt, c.value = read, c.value.Add(passed)
	most := passed / slew
	c.value = c.value.Add(max(-most, min(most, c.timeOfDay().Round(0).Sub(c.value))))
	return c.value
}
