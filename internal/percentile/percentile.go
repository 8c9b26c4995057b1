// Package percentile computes nearest-rank percentiles, for simulations, benchmarks and
// their tables: a percentile is always one of the values, never interpolated.
package percentile

import (
	"cmp"
	"slices"
)

// Of returns the least of the values that at least p per cent of them do not exceed. The
// values may be in any order; without values the result is zero.
func Of[T cmp.Ordered](values []T, p int) (least T) {
	if len(values) == 0 {
		return least
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}
