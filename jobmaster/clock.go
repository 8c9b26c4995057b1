package jobmaster

import "time"

// slew limits how fast the clock is corrected towards the time of day: by at most 1/slew of
// the time that passes.
const slew = 16

// clock is the loop's time. It advances with the monotonic clock. So if the machine's time
// of day is set forward or back, no tasknode looks silent and no timeout is delayed. The
// clock approaches the time of day slowly, never stops and never runs back.
//
// Each reading adds the time that has passed on the monotonic clock since the previous
// reading. It then corrects the sum towards the time of day by at most 1/slew of the added
// time. If the time of day jumps by d, the clock is correct again after slew·d: a jump of a
// minute is corrected in 16 minutes. Since slew is more than 1, the correction is smaller
// than the added time, so values never decrease.
//
// Only the loop uses a clock, so the clock has no lock.
type clock struct {
	timeOfDay func() time.Time
	readAt    time.Time // time of the last reading, with its monotonic part
	value     time.Time // what the last reading returned, without a monotonic part
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
