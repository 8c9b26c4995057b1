package share

import (
	"cmp"
	"math"
)

// Consumer is somebody who holds parts of several resources.
type Consumer struct {
	Used   []float64 // of each resource
	Weight float64   // 0 comes after everybody else
}

// DominantShare is the largest part that a holder has of any resource, by capacity of
// each, for each unit of weight. What it holds of a resource that there is not
// counts as more than anything.
func DominantShare(capacity []float64, h Consumer) float64 {
	part := h.part(capacity)
	if h.Weight > 0 {
		return part / h.Weight
	}
	return math.Inf(1)
}

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

// CompareDominant orders holders by dominant resource fairness: the next unit
// that fits goes to the first. With one resource that is the order by use over
// weight. Holders without weight come last, among each other by what they hold.
func CompareDominant(capacity []float64, a, b Consumer) int {
	return cmp.Or(cmp.Compare(DominantShare(capacity, a), DominantShare(capacity, b)), cmp.Compare(a.part(capacity), b.part(capacity)))
}
