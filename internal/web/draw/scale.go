package draw

import (
	"math"
	"time"
)

// Scale is how the numbers of an axis are shown that begins at 0.
type Scale struct {
	Text  func(float64) string
	Units []float64 // ascending; ticks are round in the greatest unit of which the highest number has two
}

// Ticks returns the ticks up to a highest number above 0: about two to six. place returns where a number is.
func (s Scale) Ticks(highest float64, place func(float64) float64) (list []Tick) {
	step := s.step(highest)
	for i := 0.; i*step <= highest*1.0001; i++ {
		list = append(list, Tick{place(i * step), s.Text(i * step)})
	}
	return list
}

// Round returns the least multiple of the distance of ticks that is not less than a number; 1 for 0.
func (s Scale) Round(highest float64) float64 {
	if highest <= 0 {
		return 1
	}
	step := s.step(highest)
	return math.Ceil(highest/step-1e-9) * step
}

// step returns the distance of ticks. It is less than the smallest unit only if the highest number is.
func (s Scale) step(highest float64) float64 {
	unit := s.Units[0]
	for _, u := range s.Units {
		if highest >= 2*u {
			unit = u
		}
	}
	step := unit * roundStep(highest/unit/5)
	if highest >= s.Units[0] {
		step = max(step, s.Units[0])
	}
	return step
}

// clockSteps are distances of ticks of a clock, in ms.
var clockSteps = []int64{
	1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000, 86_400_000,
}

// Clock is an axis of times in UTC.
type Clock struct {
	step   int64 // ms
	format string
}

// NewClock returns a clock with at most so many ticks between two times, in ms since the epoch; more only
// if they are further apart than as many days.
func NewClock(from, to, most int64) Clock {
	c := Clock{clockSteps[len(clockSteps)-1], "15:04:05.000"}
	for _, step := range clockSteps {
		if (to-from)/step <= most {
			c.step = step
			break
		}
	}
	switch {
	case c.step >= 86_400_000:
		c.format = time.DateOnly
	case c.step >= 60_000:
		c.format = "15:04"
	case c.step >= 1000:
		c.format = time.TimeOnly
	}
	return c
}

// Ticks returns the round times from one time up to another; place returns where a time is.
func (c Clock) Ticks(from, to int64, place func(int64) float64) (list []Tick) {
	for at := (from + c.step - 1) / c.step * c.step; at <= to; at += c.step {
		list = append(list, Tick{place(at), time.UnixMilli(at).UTC().Format(c.format)})
	}
	return list
}
