package results

import (
	"math"
	"slices"
)

// Spread is the median of repetitions and a 95 % interval for the true median. The interval
// is by order statistics and the binomial distribution, so it assumes nothing about the
// distribution of the values. Up to five values have no such interval; they get the range
// from the least to the greatest.
type Spread struct {
	N                 int // values that are not NaN
	Median, Low, High float64
}

// SpreadOf ignores NaN. The spread of no values is NaN throughout. Twenty values give the
// interval from the 6th to the 15th.
func SpreadOf(values []float64) Spread {
	sorted := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	slices.Sort(sorted)
	n := len(sorted)
	if n == 0 {
		return Spread{Median: math.NaN(), Low: math.NaN(), High: math.NaN()}
	}
	k := cutoff(n)
	return Spread{N: n, Median: (sorted[(n-1)/2] + sorted[n/2]) / 2, Low: sorted[k], High: sorted[n-1-k]}
}

// cutoff returns the number of values outside the interval at each end: the greatest k with
// 2 P(B ≤ k) ≤ 0.05, where B is the number of heads of n coins. It is 0 if there is none.
//
//	n           5  6  10  20
//	cutoff      0  0   1   5     values outside of the interval at each end
func cutoff(n int) int {
	tail, choose := 0.0, 1.0 // P(B ≤ k), and n over k
	for k := 0; ; k++ {
		tail += choose / math.Pow(2, float64(n))
		if 2*tail > 0.05 {
			return max(k-1, 0)
		}
		choose = choose * float64(n-k) / float64(k+1)
	}
}
