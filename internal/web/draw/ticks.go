package draw

import (
	"math"
	"strconv"
)

// Tick is a text at a value of an axis, or at a place of a picture. A tick without a text is a short line.
type Tick struct {
	At   float64
	Text string
}

// wantedTicks is the approximate number of labels on an axis.
const wantedTicks = 6

// evenTicks returns multiples of 1, 2 or 5 times a power of ten, about as many as wanted. They
// are for linear axes. Multiples are computed from an integer, so that errors do not add up; a
// tick within a billionth of a step of the end of the axis is shown.
func evenTicks(low, high float64, wanted int) (ticks []Tick) {
	least := (high - low) / float64(wanted)
	if !(least > 0) || math.IsInf(least, 1) {
		return nil
	}
	step := roundStep(least)
	for n := math.Ceil(low/step - 1e-9); n*step <= high+step*1e-9 && len(ticks) < 10*wanted; n++ {
		ticks = append(ticks, Tick{n * step, formatTick(n * step)})
	}
	return ticks
}

// roundStep returns the least 1, 2 or 5 times a power of ten that is not less than a number above 0.
func roundStep(least float64) (step float64) {
	decade := math.Pow(10, math.Floor(math.Log10(least)))
	for _, factor := range []float64{10, 5, 2, 1} {
		if factor*decade >= least*(1-1e-9) {
			step = factor * decade
		}
	}
	return step
}

// decadeTicks returns powers of ten and, if those are few, their multiples. They are for
// logarithmic axes. Over many decades only every n-th power has a label; over fewer than two
// also its double and its fivefold have one.
func decadeTicks(low, high float64, wanted int) (ticks []Tick) {
	if !(low > 0 && high > low && !math.IsInf(high, 1)) {
		return nil
	}
	decades := math.Log10(high / low)
	every := max(1, int(math.Ceil(decades/float64(2*wanted))))
	for e := int(math.Floor(math.Log10(low))); math.Pow(10, float64(e)) <= high; e++ {
		for digit := 1; digit <= 9; digit++ {
			t := Tick{At: float64(digit) * math.Pow(10, float64(e))}
			if digit == 1 && e%every == 0 || decades < 2 && (digit == 2 || digit == 5) {
				t.Text = formatTick(t.At)
			}
			if t.At >= low*(1-1e-9) && t.At <= high*(1+1e-9) && (digit == 1 || every == 1) {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

// formatTick formats a value without rounding errors of binary fractions. Very small and
// very large values are written with an exponent.
func formatTick(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'e', 9, 64), 64)
	if err != nil || rounded == 0 {
		return "0"
	}
	if a := math.Abs(rounded); a < 1e-4 || a >= 1e7 {
		return strconv.FormatFloat(rounded, 'g', -1, 64)
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}
