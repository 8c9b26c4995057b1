package jobmaster

import "time"

// slew is by how much of the time that passes a clock comes closer to the time of
// day: one part of so many.
const slew = 16

// clock is the time of the loop. It passes as time passes, whatever becomes of the
// machine's time of day: when that is set, forward or back, nobody has been silent
// for longer, and nothing waits for an hour that is not over. The clock comes back
// to the time of day little by little, never stands still and never goes back.
type clock struct {
	timeOfDay func() time.Time
	readAt    time.Time // with the machine's own count of time
	value     time.Time // what was told then; a time of day alone
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
