package counter

import (
	"math"
	"testing"
)

// TestCountsBeyondAnInt64 adds beyond the limits and back.
func TestCountsBeyondAnInt64(t *testing.T) {
	var c Counter
	for _, step := range []struct {
		add, want int64
		exact     bool
	}{
		{math.MaxInt64, math.MaxInt64, true}, {1, math.MaxInt64, false}, {math.MaxInt64, math.MaxInt64, false},
		{-math.MaxInt64, math.MaxInt64, false}, {-2, math.MaxInt64 - 1, true}, {0, math.MaxInt64 - 1, true},
		{math.MinInt64, -2, true}, {math.MinInt64, math.MinInt64, false}, {2, math.MinInt64, true},
	} {
		c.Add(step.add)
		if got, exact := c.Exact(); got != step.want || exact != step.exact || c.Value() != got {
			t.Errorf("after %d: %d, %v; want %d, %v", step.add, got, exact, step.want, step.exact)
		}
	}
	for _, total := range [][3]int64{{math.MaxInt64, 1, math.MaxInt64}, {math.MinInt64, -1, math.MinInt64}, {math.MinInt64, math.MinInt64, math.MinInt64}, {math.MaxInt64, math.MinInt64, -1}} {
		if got := Total(total[0], total[1], false); got != total[2] {
			t.Errorf("%d and %d: %d, want %d", total[0], total[1], got, total[2])
		}
	}
}
