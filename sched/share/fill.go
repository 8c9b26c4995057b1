package share

import (
	"math"
	"slices"
	"sort"
)

// Fill is what each claim gets, beside claims: together the capacity, or what all
// want if that is less. It is exact but for the rounding of floating point, and
// costs n log n.
func Fill(capacity float64, claims []Claim) []float64 {
	f := filling{capacity: nonNegative(capacity), claims: make([]Claim, len(claims))}
	for i, c := range claims {
		f.claims[i] = c.normalized()
	}
	if shares, scarce := f.scaledMinima(); scarce {
		return shares
	}
	f.split()
	return f.shares()
}

// filling is a capacity that holds all minima, and clean claims on it.
type filling struct {
	capacity   float64
	claims     []Claim
	weighted   []int // places of the claims with weight
	unweighted []int // of the others
}

// scaledMinima are the shares when the capacity is too small for all minima, or just
// large enough.
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

// leastWeight is what part of the largest weight any other counts as at least, so
// that a level is a finite number.
const leastWeight = 1e-200

// split tells claims with weight from those without. The largest weight becomes
// 1, so that no sum of them overflows.
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

// shares fills up the claims with weight, then the others with what is left over
// besides their minima.
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

// fill shares a capacity out among some of the claims. As the level rises, each
// claim stands at its minimum, then grows with the level, then stands at its
// demand; between two breakpoints none begins or ends to grow, so the level that
// uses the capacity up follows from the weights of those that do.
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

func (f *filling) settle(members []int, share func(Claim) float64, shares []float64) {
	for _, i := range members {
		shares[i] = share(f.claims[i])
	}
}

// used is what the members hold at a level.
func (f *filling) used(level float64, members []int) (sum float64) {
	for _, i := range members {
		sum += at(f.claims[i], level)
	}
	return sum
}

// at is what a claim holds at a level.
func at(c Claim, level float64) float64 {
	switch {
	case c.Min/c.Weight >= level:
		return c.Min
	case c.Demand/c.Weight <= level:
		return c.Demand
	}
	return level * c.Weight
}

// grows reports whether a claim holds more the higher the level is, just below a
// breakpoint.
func grows(c Claim, upper float64) bool {
	return c.Min/c.Weight < upper && c.Demand/c.Weight >= upper
}
