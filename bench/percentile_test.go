package bench

import "testing"

func TestPercentile(t *testing.T) {
	values := make([]int64, 40)
	for i := range values {
		values[i] = int64(40 - i)
	}
	for p, want := range map[int]int64{0: 1, 50: 20, 95: 38, 100: 40} {
		if got := Percentile(values, p); got != want {
			t.Errorf("%d %%: %d, want %d", p, got, want)
		}
	}
	if got := Percentile([]int64(nil), 50); got != 0 {
		t.Errorf("of none: %d", got)
	}
}
