package percentile_test

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/kit/percentile"
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

// TestWindowCoversTheLatestValues adds more values than a window keeps.
func TestWindowCoversTheLatestValues(t *testing.T) {
	w := percentile.NewWindow[int](100)
	if got := w.Summary(); got != (percentile.Summary[int]{}) {
		t.Errorf("without values: %+v", got)
	}
	w.Add(7)
	if got, want := w.Summary(), (percentile.Summary[int]{Count: 1, Total: 7, Median: 7, P99: 7, Max: 7}); got != want {
		t.Errorf("of one value: %+v, want %+v", got, want)
	}
	for n := range 250 {
		w.Add(n)
	}
	if got, want := w.Summary(), (percentile.Summary[int]{Count: 251, Total: 7 + 250*249/2, Median: 199, P99: 248, Max: 249}); got != want {
		t.Errorf("of the latest values: %+v, want %+v", got, want)
	}
}

func TestHistogramCountsTheLatestValues(t *testing.T) {
	w := percentile.NewWindow[int](7)
	for _, n := range []int{1000, 99, 100, 199, 200, 399, 400, 5} {
		w.Add(n)
	}
	if got, want := w.Histogram(100, 3), []int64{2, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
