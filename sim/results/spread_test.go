package results

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		values            []float64
		median, low, high float64
	}{
		{[]float64{3}, 3, 3, 3},
		{[]float64{2, 1, math.NaN()}, 1.5, 1, 2},
		{[]float64{5, 4, 3, 2, 1}, 3, 1, 5},
		{[]float64{6, 5, 4, 3, 2, 1}, 3.5, 1, 6},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 2, 9},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}, 10.5, 6, 15},
	} {
		if s := SpreadOf(c.values); s.Median != c.median || s.Low != c.low || s.High != c.high {
			t.Errorf("%v: %+v, want %g (%g to %g)", c.values, s, c.median, c.low, c.high)
		}
	}
	if s := SpreadOf(nil); s.N != 0 || !math.IsNaN(s.Median) {
		t.Errorf("of nothing: %+v", s)
	}
}

// TestSpreadCovers draws from a skewed distribution whose median is known.
func TestSpreadCovers(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{6, 10, 20, 33} {
		inside := 0
		const draws = 2000
		for range draws {
			values := make([]float64, n)
			for i := range values {
				values[i] = draw.ExpFloat64()
			}
			if s := SpreadOf(values); s.Low <= math.Ln2 && math.Ln2 <= s.High {
				inside++
			}
		}
		if part := float64(inside) / draws; part < 0.94 {
			t.Errorf("of %d values: %.3f of the intervals contain the median, want 0.95", n, part)
		}
	}
}
