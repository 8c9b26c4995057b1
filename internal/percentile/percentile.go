// Package percentile has the one meaning of percentiles in simulations, benchmarks
// and their tables: a value that was there, never one between two.
package percentile

import (
	"cmp"
	"slices"
)

// Of is the least of some values, in any order, that p per cent of them do not
// exceed; the zero value of none.
func Of[T cmp.Ordered](values []T, p int) (least T) {
	if len(values) == 0 {
		return least
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}
