package share

import (
	"cmp"
	"math"
)

// Consumer is one party that uses several resources.
type Consumer struct {
	Used   []float64 // amount used of each resource
	Weight float64   // weight; a consumer of weight 0 comes after all others
}

// DominantShare returns the largest fraction of any resource's capacity that a consumer
// uses, per unit of weight (Ghodsi et al., "Dominant resource fairness", NSDI 2011, section
// 4). The share of a resource without capacity is infinite.
func DominantShare(capacity []float64, h Consumer) float64 {
	part := h.part(capacity)
	if h.Weight > 0 {
		return part / h.Weight
	}
	return math.Inf(1)
}

// part returns the largest fraction that the consumer uses of any resource. The result is
// infinite if the consumer uses a resource that the cluster does not have.
func (h Consumer) part(capacity []float64) (part float64) {
	for r, used := range h.Used {
		switch {
		case !(used > 0):
		case r < len(capacity) && capacity[r] > 0:
			part = max(part, used/capacity[r])
		default:
			part = math.Inf(1)
		}
	}
	return part
}

// CompareDominant orders consumers by dominant resource fairness: the next unit that fits
// goes to the first. With one resource, consumers are ordered by use over weight. Consumers
// without weight come last, ordered by use.
func CompareDominant(capacity []float64, a, b Consumer) int {
	return cmp.Or(cmp.Compare(DominantShare(capacity, a), DominantShare(capacity, b)), cmp.Compare(a.part(capacity), b.part(capacity)))
}
