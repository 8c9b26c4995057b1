package percentile_test

import (
	"testing"

	"github.com/hammr/hammr/internal/percentile"
)

func TestOf(t *testing.T) {
	values := make([]int64, 40)
	for i := range values {
		values[i] = int64(40 - i)
	}
	for p, want := range map[int]int64{0: 1, 50: 20, 95: 38, 100: 40} {
		if got := percentile.Of(values, p); got != want {
			t.Errorf("%d %%: %d, want %d", p, got, want)
		}
	}
	for p, want := range map[int]float64{0: 1, 25: 1, 26: 2, 50: 2, 75: 3, 99: 4, 100: 4} {
		if got := percentile.Of([]float64{1, 2, 3, 4}, p); got != want {
			t.Errorf("%d %%: %v, want %v", p, got, want)
		}
	}
	if got := percentile.Of([]int64(nil), 50); got != 0 {
		t.Errorf("of none: %d", got)
	}
}
