package paper

import (
	"fmt"
	"math"
	"slices"
)

// Spread is the median of repetitions, and an interval in which the true one lies
// in at least 95 of 100 cases, whatever the distribution: order statistics, by the
// binomial law. Up to five values have no such interval, so theirs is from the
// least to the greatest.
type Spread struct {
	N                 int // values that there are
	Median, Low, High float64
}

// SpreadOf leaves out what is NaN. Of nothing, all is NaN.
func SpreadOf(values []float64) Spread {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(sorted)
	n := len(sorted)
	if n == 0 {
		return Spread{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	k := rank(n)
	return Spread{N: n, Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[k], High: sorted[n-1-k]}
}

// rank is how many values may be cut off at each end so that what is left has the
// true median in 95 of 100 cases: the greatest k with 2 P(B ≤ k) ≤ 0.05, where B is
// the number of heads of n coins; 0 when there is none.
func rank(n int) int {
	tail, ways := 0.0, 1.0 // P(B ≤ k), and n over k
	for k := 0; ; k++ {
		tail += ways / math.Pow(2, float64(n))
		if 2*tail > 0.05 {
			return max(k-1, 0)
		}
		ways = ways * float64(n-k) / float64(k+1)
	}
}

// text is the median, and the interval where there is more than one value.
func (s Spread) text(unit string) string {
	switch {
	case s.N == 0:
		return "–"
	case number(s.Low) == number(s.High):
		return quantity(s.Median, unit)
	}
	return fmt.Sprintf("%s (%s to %s)", quantity(s.Median, unit), number(s.Low), number(s.High))
}

// quantity is a number with its unit.
func quantity(x float64, unit string) string {
	if unit == "" {
		return number(x)
	}
	return number(x) + " " + unit
}

// number has three digits that count, all of those before the point, and two
// behind it at most.
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

// trim takes away zeros behind the point.
func trim(text string) string {
	for text[len(text)-1] == '0' {
		text = text[:len(text)-1]
	}
	if text[len(text)-1] == '.' {
		text = text[:len(text)-1]
	}
	return text
}
