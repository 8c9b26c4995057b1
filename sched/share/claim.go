package share

import "math"

// PriorityWeight returns the weight of a job with the given priority. Each step above normal
// doubles the weight and each step below halves it, as in Hadoop's fair scheduler. Steps
// beyond very high (2) and very low (-2) do not count.
func PriorityWeight(priority int) float64 {
	return math.Exp2(float64(min(max(priority, -2), 2)))
}

// Claim is one party's claim to a capacity.
type Claim struct {
	// A claim gets a share in proportion to Weight. Claims of weight 0 have a right to their
	// minimum only. Beyond it they share equally what all other claims leave.
	Weight float64

	// Min is guaranteed, up to Demand; 0 is no guarantee. If the capacity is smaller
	// than the sum of all minima, each is reduced in proportion.
	Min float64

	Demand float64 // the most that the claim gets; may be infinite
}

// normalized returns a claim without negative, infinite and undefined numbers, except for an infinite
// demand. Its minimum does not exceed its demand.
func (c Claim) normalized() Claim {
	demand := nonNegative(c.Demand)
	return Claim{Weight: min(nonNegative(c.Weight), math.MaxFloat64), Min: min(nonNegative(c.Min), demand), Demand: demand}
}

// nonNegative returns x, or 0 if it is negative or not a number.
func nonNegative(x float64) float64 {
	if x > 0 {
		return x
	}
	return 0
}
