package share

import (
	"errors"
	"fmt"
	"math"
)

// PriorityWeight returns the weight of a job of a priority: doubled by each step above
// normal and halved by each below, as in Hadoop's fair scheduler. Steps beyond very high
// (2) and very low (-2) do not count.
func PriorityWeight(priority int) float64 {
	return math.Exp2(float64(min(max(priority, -2), 2)))
}

// Claim is what somebody wants of a capacity.
type Claim struct {
	// Weight is in proportion to what a claim gets. Claims of weight 0 share,
	// alike, what is left over when all others have what they want; beyond
	// their minimum they have no right to anything.
	Weight float64

	// Min is guaranteed, as far as Demand wants it; 0 is nothing. When the
	// capacity holds less than all minima, each is cut in proportion.
	Min float64

	Demand float64 // no more than that is given; may be infinite
}

// Check returns all that is wrong with a claim. Fill takes what Check refuses for
// zero.
func (c Claim) Check() error {
	return errors.Join(CheckWeight(c.Weight), check("minimum", c.Min), check("demand", c.Demand))
}

// CheckWeight refuses what is no weight.
func CheckWeight(weight float64) error {
	if math.IsInf(weight, 1) {
		return fmt.Errorf("share: weight %v is not finite", weight)
	}
	return check("weight", weight)
}

func check(what string, x float64) error {
	if x >= 0 {
		return nil
	}
	return fmt.Errorf("share: %s %v is not 0 or more", what, x)
}

// normalized is a claim that Check accepts and of which no minimum exceeds the demand.
func (c Claim) normalized() Claim {
	demand := nonNegative(c.Demand)
	return Claim{Weight: min(nonNegative(c.Weight), math.MaxFloat64), Min: min(nonNegative(c.Min), demand), Demand: demand}
}

// nonNegative is x, or 0 when it is negative or not a number.
func nonNegative(x float64) float64 {
	if x > 0 {
		return x
	}
	return 0
}
