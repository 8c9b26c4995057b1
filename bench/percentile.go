package bench

import (
	"cmp"
	"slices"
)

// Percentile is the least of some values that p per cent of them do not exceed; the
// zero value of none.
func Percentile[T cmp.Ordered](values []T, p int) (least T) {
	if len(values) == 0 {
		return least
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[max((len(sorted)*p+99)/100, 1)-1]
}
