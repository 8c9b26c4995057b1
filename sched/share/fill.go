package share

import (
	"math"
	"slices"
	"sort"
)

// Fill returns what each claim gets, parallel to claims: their sum is the capacity, or the
// sum of all demands if that is less. The results are exact up to floating-point rounding.
// Fill takes O(n log n) time. A share that differs from a whole number only by a rounding
// error is set to that number, because callers compare shares with numbers of slots.
func Fill(capacity float64, claims []Claim) []float64 {
	f := filling{capacity: nonNegative(capacity), claims: make([]Claim, len(claims))}
	for i, c := range claims {
		f.claims[i] = c.normalized()
	}
	if shares, scarce := f.scaledMinima(); scarce {
		return shares
	}
	f.split()
	shares := f.shares()
	for i, s := range shares {
		shares[i] = whole(s)
	}
	return shares
}

// roundingError is a bound for the relative error of a share. It is far above the actual
// error of the few operations.
const roundingError = 1e-12

// whole returns the whole number from which s differs only by a rounding error, or else s.
// With a share of 3.0000000000000004, a queue with 4 slots would have none to spare.
func whole(s float64) float64 {
	if n := math.Round(s); n >= 1 && math.Abs(s-n) <= roundingError*n {
		return n
	}
	return s
}

// filling is the state of one call of Fill: a capacity that exceeds all minima, and
// normalized claims to it.
type filling struct {
	capacity   float64
	claims     []Claim
	weighted   []int // indexes of the claims with weight
	unweighted []int // indexes of the claims without weight
}

// scaledMinima returns the shares if the capacity is at most the sum of all minima.
func (f *filling) scaledMinima() (shares []float64, scarce bool) {
	sum := 0.0
	shares = make([]float64, len(f.claims))
	for i, c := range f.claims {
		shares[i] = min(c.Min, math.MaxFloat64/float64(len(f.claims)))
		sum += shares[i]
	}
	if sum < f.capacity {
		return nil, false
	}
	for i := range shares {
		if sum > f.capacity {
			shares[i] *= f.capacity / sum
		}
	}
	return shares, true
}

// leastWeight is a fraction of the largest weight. Smaller weights count as this fraction,
// so that levels stay finite.
const leastWeight = 1e-200

// split separates claims with weight from claims without weight. It scales weights so that
// the largest is 1 and their sum does not overflow.
func (f *filling) split() {
	largest := 0.0
	for _, c := range f.claims {
		largest = max(largest, c.Weight)
	}
	for i := range f.claims {
		c := &f.claims[i]
		c.Demand = min(c.Demand, f.capacity)
		if c.Weight == 0 {
			c.Weight = 1
			f.unweighted = append(f.unweighted, i)
		} else {
			c.Weight = max(c.Weight/largest, leastWeight)
			f.weighted = append(f.weighted, i)
		}
	}
}

// shares fills the claims with weight, then the other claims with the remaining capacity.
func (f *filling) shares() []float64 {
	shares := make([]float64, len(f.claims))
	left := f.capacity
	for _, i := range f.unweighted {
		left -= f.claims[i].Min
	}
	f.fill(left, f.weighted, shares)
	left = f.capacity
	for _, i := range f.weighted {
		left -= shares[i]
	}
	f.fill(left, f.unweighted, shares)
	return shares
}

// fill divides a capacity among some of the claims. As the level rises, a claim stays at its
// minimum, then grows with the level, then stays at its demand. Between two breakpoints the
// set of growing claims does not change, so the final level follows from the weights in that
// set.
func (f *filling) fill(capacity float64, members []int, shares []float64) {
	wanted := 0.0
	var levels []float64 // breakpoints
	for _, i := range members {
		c := f.claims[i]
		wanted += c.Demand
		levels = append(levels, c.Min/c.Weight, c.Demand/c.Weight)
	}
	if wanted <= capacity {
		f.settle(members, func(c Claim) float64 { return c.Demand }, shares)
		return
	}
	upper := math.Inf(1)
	slices.Sort(levels)
	if n := sort.Search(len(levels), func(n int) bool { return f.used(levels[n], members) >= capacity }); n < len(levels) {
		upper = levels[n]
	}
	weights := 0.0
	for _, i := range members {
		c := f.claims[i]
		if grows(c, upper) {
			weights += c.Weight
		} else {
			capacity -= at(c, upper)
		}
	}
	f.settle(members, func(c Claim) float64 {
		if !grows(c, upper) {
			return at(c, upper)
		}
		return min(c.Demand, max(c.Min, nonNegative(capacity)*(c.Weight/weights)))
	}, shares)
}

// settle writes the share of each member.
func (f *filling) settle(members []int, share func(Claim) float64, shares []float64) {
	for _, i := range members {
		shares[i] = share(f.claims[i])
	}
}

// used returns the sum of what the members get at a level.
func (f *filling) used(level float64, members []int) (sum float64) {
	for _, i := range members {
		sum += at(f.claims[i], level)
	}
	return sum
}

// at returns what a claim gets at a level.
func at(c Claim, level float64) float64 {
	switch {
	case c.Min/c.Weight >= level:
		return c.Min
	case c.Demand/c.Weight <= level:
		return c.Demand
	}
	return level * c.Weight
}

// grows reports whether a claim grows with the level just below a breakpoint.
func grows(c Claim, upper float64) bool {
	return c.Min/c.Weight < upper && c.Demand/c.Weight >= upper
}
