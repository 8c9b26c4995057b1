package plot

import (
	"math"
	"strconv"

	gplot "gonum.org/v1/plot"
)

// evenTicks are multiples of 1, 2 or 5 times a power of ten. gonum's default ticks are at
// less round numbers, and their labels have no common precision.
type evenTicks struct{}

// wantedTicks is the approximate number of labels on an axis.
const wantedTicks = 6

// Ticks implements gonum's plot.Ticker. Multiples are computed from an integer, so that
// errors do not add up; a tick within a billionth of a step of the end of the axis is
// shown.
func (evenTicks) Ticks(low, high float64) (ticks []gplot.Tick) {
	step := evenStep((high - low) / wantedTicks)
	if step == 0 || math.IsInf(step, 0) {
		return nil
	}
	for n := math.Ceil(low/step - 1e-9); n*step <= high+step*1e-9 && len(ticks) < 10*wantedTicks; n++ {
		ticks = append(ticks, gplot.Tick{Value: n * step, Label: formatTick(n * step)})
	}
	return ticks
}

// evenStep returns the least even step that is not below a wanted one. It returns 0 for an
// axis without length.
func evenStep(wanted float64) float64 {
	if !(wanted > 0) {
		return 0
	}
	decade := math.Pow(10, math.Floor(math.Log10(wanted)))
	for _, factor := range []float64{1, 2, 5} {
		if factor*decade >= wanted*(1-1e-9) {
			return factor * decade
		}
	}
	return 10 * decade
}

// decadeTicks are powers of ten and, if those are few, their doubles and fives. They are
// for logarithmic axes.
type decadeTicks struct{}

// Ticks implements gonum's plot.Ticker. Over many decades only every n-th power has a
// label; over fewer than two also its double and its fivefold have one.
func (decadeTicks) Ticks(low, high float64) (ticks []gplot.Tick) {
	if !(low > 0 && high > low && !math.IsInf(high, 1)) {
		return nil
	}
	decades := math.Log10(high / low)
	every := max(1, int(math.Ceil(decades/(2*wantedTicks))))
	for e := int(math.Floor(math.Log10(low))); math.Pow(10, float64(e)) <= high; e++ {
		for digit := 1; digit <= 9; digit++ {
			v := float64(digit) * math.Pow(10, float64(e))
			labelled := digit == 1 && e%every == 0 || decades < 2 && (digit == 2 || digit == 5)
			if v < low*(1-1e-9) || v > high*(1+1e-9) || digit > 1 && every > 1 {
				continue
			}
			tick := gplot.Tick{Value: v}
			if labelled {
				tick.Label = formatTick(v)
			}
			ticks = append(ticks, tick)
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
