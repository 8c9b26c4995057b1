package share

import (
	"cmp"
	"math"
	"slices"
)

// Apportion divides whole slots in proportion to shares, by the method of the largest
// remainder: each share is rounded down, and the remaining slots go, one each, to the shares
// that lost most by rounding. Of equal shares the first comes first. It gives out all slots
// if any share is positive. The result is parallel to shares.
func Apportion(slots int, shares []float64) []int {
	parts := make([]int, len(shares))
	quotas := quotas(slots, shares)
	var owed []int // indexes of positive shares
	left := slots
	for i, q := range quotas {
		if q > 0 {
			parts[i] = int(q)
			left -= parts[i]
			owed = append(owed, i)
		}
	}
	remainder := func(i int) float64 { return quotas[i] - math.Floor(quotas[i]) }
	slices.SortStableFunc(owed, func(a, b int) int { return cmp.Compare(remainder(b), remainder(a)) })
	for n := 0; n < left && len(owed) > 0; n++ {
		parts[owed[n%len(owed)]]++
	}
	return parts
}

// quotas returns the parts before rounding. A part is 0 for a share that is not positive.
// Shares are scaled by the largest so that their sum does not overflow.
func quotas(slots int, shares []float64) []float64 {
	largest, sum := 0.0, 0.0
	for _, s := range shares {
		largest = max(largest, min(nonNegative(s), math.MaxFloat64))
	}
	quotas := make([]float64, len(shares))
	for i, s := range shares {
		if s > 0 && slots > 0 {
			quotas[i] = min(s, math.MaxFloat64) / largest
			sum += quotas[i]
		}
	}
	for i := range quotas {
		quotas[i] *= float64(slots) / max(sum, 1)
	}
	return quotas
}
