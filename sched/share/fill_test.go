package share

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// claim returns a claim of weight 1 without a minimum; more is the minimum, then the weight.
func claim(demand float64, more ...float64) Claim {
	c := Claim{Demand: demand, Weight: 1}
	if len(more) > 0 {
		c.Min = more[0]
	}
	if len(more) > 1 {
		c.Weight = more[1]
	}
	return c
}

func TestFill(t *testing.T) {
	inf := math.Inf(1)
	tests := []struct {
		name     string
		capacity float64
		claims   []Claim
		want     []float64
	}{
		// Cases from Hadoop's fair scheduler.
		{"equal shares", 40, []Claim{claim(100), claim(50), claim(30), claim(20)}, []float64{10, 10, 10, 10}},
		{"low demands", 40, []Claim{claim(100), claim(50), claim(11), claim(3)}, []float64{13, 13, 11, 3}},
		{"minima", 40, []Claim{claim(100, 20), claim(10, 20), claim(10, 0), claim(3, 2)}, []float64{20, 10, 7, 3}},
		{"weights", 45, []Claim{claim(100, 0, 2), claim(50), claim(30), claim(20, 0, .5)}, []float64{20, 10, 10, 5}},
		{"weights and low demands", 45, []Claim{claim(10, 0, 2), claim(11), claim(30), claim(20, 0, .5)}, []float64{10, 11, 16, 8}},
		{"weights and minima", 45, []Claim{claim(10, 20, 2), claim(11), claim(30, 5), claim(20, 15, .5)}, []float64{10, 10, 10, 15}},
		{"less than a slot each", 1, []Claim{claim(10), claim(5), claim(3), claim(2)}, []float64{.25, .25, .25, .25}},
		{"no demand", 30, []Claim{claim(100), claim(50), claim(30), claim(0)}, []float64{10, 10, 10, 0}},

		// Cases that are easy to get wrong.
		{"minima beyond the capacity", 40, []Claim{claim(100, 30), claim(100, 30)}, []float64{20, 20}},
		{"minima beyond the capacity, unlike", 40, []Claim{claim(100, 60), claim(20, 60), claim(9)}, []float64{30, 10, 0}},
		{"minima of all the capacity", 40, []Claim{claim(100, 30), claim(10, 10), claim(9)}, []float64{30, 10, 0}},
		{"a minimum above the demand is the demand", 40, []Claim{claim(5, 30), claim(100)}, []float64{5, 35}},
		{"weight 0, all that want are met", 40, []Claim{claim(10, 0, 0), claim(20)}, []float64{10, 20}},
		{"weight 0 gets leftovers", 25, []Claim{claim(10, 0, 0), claim(20)}, []float64{5, 20}},
		{"weight 0 gets nothing", 20, []Claim{claim(10, 0, 0), claim(20)}, []float64{0, 20}},
		{"weight 0 with a minimum", 20, []Claim{claim(10, 4, 0), claim(20)}, []float64{4, 16}},
		{"only weights 0", 12, []Claim{claim(10, 0, 0), claim(3, 0, 0), claim(20, 0, 0)}, []float64{4.5, 3, 4.5}},
		{"a huge weight", 40, []Claim{claim(20, 0, 1e9), claim(40)}, []float64{20, 20}},
		{"huge weights", 40, []Claim{claim(100, 0, math.MaxFloat64), claim(100, 0, math.MaxFloat64)}, []float64{20, 20}},
		{"huge and tiny", 40, []Claim{claim(30, 0, math.MaxFloat64), claim(100, 0, math.SmallestNonzeroFloat64)}, []float64{30, 10}},
		{"weights 1 and 2 of which one wants little", 60, []Claim{claim(1000), claim(30, 0, 2)}, []float64{30, 30}},
		{"boundless demand", 30, []Claim{claim(inf), claim(inf, 0, 2)}, []float64{10, 20}},
		{"boundless minimum", 30, []Claim{claim(inf, inf), claim(inf, inf, 2)}, []float64{15, 15}},
		{"nothing to share", 0, []Claim{claim(5), claim(7, 3)}, []float64{0, 0}},
		{"no claims", 5, nil, []float64{}},
		{"what is no claim", 10, []Claim{claim(-5), {Weight: math.NaN(), Demand: 6}, claim(math.NaN()), claim(5, -3, -1)}, []float64{0, 5, 0, 5}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Fill(tt.capacity, tt.claims)
			near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-12*max(1, b) }
			if !slices.EqualFunc(got, tt.want, near) {
				t.Errorf("shares are %v, want %v", got, tt.want)
			}
		})
	}
}

// TestWholeShares checks shares that floating-point numbers only approximate.
func TestWholeShares(t *testing.T) {
	for _, tt := range []struct {
		capacity float64
		claims   []Claim
		want     []float64
	}{
		{5, []Claim{claim(2, 0, .375), claim(4, 0, .25)}, []float64{2, 3}},
		{5, []Claim{claim(1, 0, .1), claim(9, 0, .3), claim(9, 0, .1)}, []float64{1, 3, 1}},
	} {
		if got := Fill(tt.capacity, tt.claims); !slices.Equal(got, tt.want) {
			t.Errorf("%v by %v: %v, want exactly %v", tt.capacity, tt.claims, got, tt.want)
		}
	}
}

// bisected is the dumb twin of Fill, for claims with weight.
func bisected(capacity float64, claims []Claim) []float64 {
	minima, demand := 0.0, 0.0
	for _, c := range claims {
		minima += min(c.Min, c.Demand)
		demand += c.Demand
	}
	at := func(level float64) (shares []float64, sum float64) {
		for _, c := range claims {
			s := min(c.Demand, max(level*c.Weight, min(c.Min, c.Demand)))
			if minima > capacity {
				s = min(c.Min, c.Demand) * capacity / minima
			}
			shares, sum = append(shares, s), sum+s
		}
		return shares, sum
	}
	low, high := 0.0, 1.0
	for range 200 {
		if _, sum := at(high); sum < min(capacity, demand) {
			high *= 2
		}
	}
	for range 200 {
		middle := (low + high) / 2
		if _, sum := at(middle); sum < min(capacity, demand) {
			low = middle
		} else {
			high = middle
		}
	}
	shares, _ := at(high)
	return shares
}

func drawClaims(rt *rapid.T, weight *rapid.Generator[float64]) (float64, []Claim) {
	amount := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(0, 100), rapid.Map(rapid.IntRange(0, 60), func(n int) float64 { return float64(n) }))
	claims := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) Claim {
		return Claim{Weight: weight.Draw(rt, "weight"), Min: amount.Draw(rt, "min"), Demand: amount.Draw(rt, "demand")}
	}), 0, 12).Draw(rt, "claims")
	return rapid.Float64Range(0, 400).Draw(rt, "capacity"), claims
}

func TestFillEqualsBisection(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		capacity, claims := drawClaims(rt, rapid.Float64Range(.01, 50))
		got, want := Fill(capacity, claims), bisected(capacity, claims)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9*max(1, capacity) {
				rt.Fatalf("%v of %v gives %v, bisection %v", capacity, claims, got, want)
			}
		}
	})
}

// TestFillKeepsInvariants uses weights of any size, including 0.
func TestFillKeepsInvariants(t *testing.T) {
	weight := rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(.1, 10), rapid.Float64Range(1e-90, 1e90))
	rapid.Check(t, func(rt *rapid.T) {
		capacity, claims := drawClaims(rt, weight)
		shares := Fill(capacity, claims)
		sum, wanted, minima := 0.0, 0.0, 0.0
		for i, c := range claims {
			sum, wanted, minima = sum+shares[i], wanted+c.Demand, minima+min(c.Min, c.Demand)
			if !(shares[i] >= 0 && shares[i] <= c.Demand) {
				rt.Fatalf("claim %d of %v gets %v", i, claims, shares[i])
			}
		}
		for i, c := range claims {
			if minima <= capacity && shares[i] < min(c.Min, c.Demand)*(1-1e-12) {
				rt.Fatalf("claim %d of %v gets %v, less than its minimum", i, claims, shares[i])
			}
		}
		if math.Abs(sum-min(capacity, wanted)) > 1e-9*max(1, capacity) {
			rt.Fatalf("%v of %v are given out", sum, min(capacity, wanted))
		}
		checkOrder(rt, claims, shares)
	})
}

// checkOrder checks that a claim with unmet demand gets no less for its weight than any
// claim that got more than its minimum.
func checkOrder(rt *rapid.T, claims []Claim, shares []float64) {
	for i, a := range claims {
		for k, b := range claims {
			lacks, beyond := shares[i] < a.Demand-1e-9, shares[k] > min(b.Min, b.Demand)+1e-9
			if !lacks || !beyond || a.Weight == 0 {
				continue
			}
			if b.Weight == 0 || shares[i]/a.Weight < shares[k]/b.Weight*(1-1e-9) && shares[i] < shares[k]*(a.Weight/b.Weight)-1e-9 {
				rt.Fatalf("of %v claim %d gets %v and claim %d gets %v", claims, i, shares[i], k, shares[k])
			}
		}
	}
}
