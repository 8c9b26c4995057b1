package paper

import (
	"fmt"
	"math"

	"github.com/hammr/hammr/sim/results"
)

// spreadText returns the median, and the interval if there is more than one value. An interval
// whose ends look the same is left out.
func spreadText(s results.Spread, unit string) string {
	switch {
	case s.N == 0:
		return "–"
	case number(s.Low) == number(s.High):
		return quantity(s.Median, unit)
	}
	return fmt.Sprintf("%s (%s to %s)", quantity(s.Median, unit), number(s.Low), number(s.High))
}

// quantity returns a number with its unit.
func quantity(x float64, unit string) string {
	if unit == "" {
		return number(x)
	}
	return number(x) + " " + unit
}

// number formats a number with three significant digits, all digits before the point, and
// at most two after it. Papers give two or three digits; more would suggest a precision
// that simulations of fitted times do not have.
func number(x float64) string {
	size := math.Abs(x)
	switch {
	case math.IsNaN(x):
		return "–"
	case size >= 100:
		return fmt.Sprintf("%.0f", x)
	case size >= 10:
		return trim(fmt.Sprintf("%.1f", x))
	case size < 0.005:
		return "0"
	}
	return trim(fmt.Sprintf("%.2f", x))
}

// trim removes zeros after the point. text has a point.
func trim(text string) string {
	for text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return text
}
