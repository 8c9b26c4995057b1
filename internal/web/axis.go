package web

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// tick is a text at a place of an axis.
type tick struct {
	At   float64
	Text string
}

// scale is how the numbers of an axis are shown that begins at 0.
type scale struct {
	text  func(float64) string
	units []float64 // ticks are round in the greatest unit of which the highest number has two
}

// Scales of pictures.
var (
	byteScale     = scale{func(v float64) string { return bytesText(int64(v)) }, []float64{1, 1 << 10, 1 << 20, 1 << 30, 1 << 40}}
	durationScale = scale{func(v float64) string {
		return strings.TrimSuffix(strings.TrimSuffix(strings.Replace(durationText(int64(v)), "–", "0", 1), " 0 s"), " 0 min")
	}, []float64{1, 1000, 60_000, 3_600_000, 86_400_000}}
	countScale = scale{func(v float64) string {
		if v != math.Floor(v) {
			return tenths(v)
		}
		return countText(int64(v))
	}, []float64{1}}
)

// tenths formats a number with at most one digit after the point.
func tenths(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

// step returns the distance of one to five ticks up to the highest number, which is above 0. It is less
// than the smallest unit only if the highest number is.
func (s scale) step(highest float64) float64 {
	unit := s.units[0]
	for _, u := range s.units {
		if highest >= 2*u {
			unit = u
		}
	}
	step := unit * math.Pow(10, math.Floor(math.Log10(highest/unit)))
	for _, part := range []float64{.2, .5, 1} {
		if highest/(step*part) <= 5 && (step*part >= s.units[0] || highest < s.units[0]) {
			return step * part
		}
	}
	return step * 2
}

// ticks returns the ticks up to the highest number; place returns where a number is.
func (s scale) ticks(highest float64, place func(float64) float64) (list []tick) {
	step := s.step(highest)
	for i := 0.; i*step <= highest*1.0001; i++ {
		list = append(list, tick{place(i * step), s.text(i * step)})
	}
	return list
}

// clockSteps are distances of ticks of a clock, in ms.
var clockSteps = []int64{
	1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000, 3_600_000, 10_800_000, 21_600_000, 86_400_000,
}

// clock is an axis of times in UTC.
type clock struct {
	step   int64 // ms
	format string
}

// newClock returns a clock with at most eight ticks between two times, in ms since the epoch; more only
// if they are further apart than eight days.
func newClock(from, to int64) clock {
	c := clock{clockSteps[len(clockSteps)-1], "15:04:05.000"}
	for _, step := range clockSteps {
		if (to-from)/step <= 8 {
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

// ticks returns the round times from one time up to another; place returns where a time is.
func (c clock) ticks(from, to int64, place func(int64) float64) (list []tick) {
	for at := (from + c.step - 1) / c.step * c.step; at <= to; at += c.step {
		list = append(list, tick{place(at), time.UnixMilli(at).UTC().Format(c.format)})
	}
	return list
}
