package draw

import "math"

// axis is a scale with the range of its values.
type axis struct {
	log      bool
	min, max float64 // min is greater than max until there is a value
	names    []Tick  // labels of places that are not numbers; nil for an axis of numbers
}

func newAxis(log bool) axis {
	return axis{log: log, min: math.Inf(1), max: math.Inf(-1)}
}

// include widens the range. Values that are not positive do not widen a logarithmic axis: a
// sojourn time of 0 is rare but possible, and is drawn at its start.
func (a *axis) include(values ...float64) {
	for _, v := range values {
		if v > 0 || !a.log {
			a.min, a.max = min(a.min, v), max(a.max, v)
		}
	}
}

// fit gives the axis a length. Without data it is from 0 to 1. A range of one value is widened.
func (a *axis) fit() {
	switch {
	case a.min > a.max && a.log:
		a.min, a.max = 1, 10
	case a.min > a.max:
		a.min, a.max = 0, 1
	case a.min == a.max && a.log:
		a.min, a.max = a.min/2, a.max*2
	case a.min == a.max:
		a.max += math.Max(1, math.Abs(a.min)/10)
	}
}

// pad adds padding on both sides of the data, where curves rise vertically. On a logarithmic
// axis the padding is a factor.
func (a *axis) pad() {
	const padding = 0.015
	if a.log {
		factor := math.Pow(a.max/a.min, padding)
		a.min, a.max = a.min/factor, a.max*factor
		return
	}
	width := (a.max - a.min) * padding
	a.min, a.max = a.min-width, a.max+width
}

// part returns where a value is: 0 is the start of the axis, 1 its end. Values outside of the
// axis are at its ends.
func (a *axis) part(v float64) float64 {
	low, high := a.min, a.max
	v = min(max(v, low), high)
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return (v - low) / (high - low)
}

// ticks returns about as many ticks as wanted, or all names.
func (a *axis) ticks(wanted int) []Tick {
	switch {
	case a.names != nil:
		return a.names
	case a.log:
		return decadeTicks(a.min, a.max, wanted)
	}
	return evenTicks(a.min, a.max, wanted)
}

// ticksAlong returns ticks whose labels do not overlap on a horizontal axis of a length.
func (a *axis) ticksAlong(length float64) (ticks []Tick) {
	const between = 6
	for wanted, fits := wantedTicks, false; wanted > 0 && !fits; wanted-- {
		ticks = a.ticks(wanted)
		end := math.Inf(-1)
		fits = true
		for _, t := range ticks {
			if at, half := a.part(t.At)*length, TextWidth(t.Text, tickSize)/2; half > 0 {
				fits = fits && at-half >= end+between
				end = at + half
			}
		}
	}
	return ticks
}
