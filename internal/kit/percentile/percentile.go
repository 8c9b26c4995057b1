// Package percentile computes nearest-rank percentiles, for simulations, benchmarks, their
// tables and metrics: a percentile is always one of the values, never interpolated. Of takes
// all values at once. A Window keeps the latest values of a series that a daemon measures.
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
	return nearest(slices.Sorted(slices.Values(values)), p)
}

// nearest is Of for values in ascending order, at least one.
func nearest[T any](sorted []T, p int) T { return sorted[max((len(sorted)*p+99)/100, 1)-1] }
