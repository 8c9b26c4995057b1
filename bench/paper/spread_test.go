package paper

import (
	"testing"

	"github.com/hammr/hammr/sim/results"
)

func TestNumbers(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 0.001: "0", 0.25: "0.25", 1.5: "1.5", 8.4: "8.4", 12.345: "12.3", 306.5: "306", -13.6: "-13.6", 100: "100"} {
		if got := number(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
	if got := spreadText(results.Spread{N: 3, Median: 2, Low: 1, High: 3}, "s"); got != "2 s (1 to 3)" {
		t.Error(got)
	}
}
