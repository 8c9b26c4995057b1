package size

import (
	"fmt"
	"testing"
)

func TestScale(t *testing.T) {
	for bytes, want := range map[float64]string{
		0: "0 B", 999: "999 B", 1000: "0.977 KiB", 1 << 10: "1 KiB", 1 << 20: "1 MiB", 1 << 30: "1 GiB",
		1 << 40: "1 TiB", 1 << 50: "1 PiB", 1 << 60: "1.02e+03 PiB", -1: "-1 B",
	} {
		value, unit := Scale(bytes)
		if got := fmt.Sprintf("%.3g %s", value, unit); got != want {
			t.Errorf("%g bytes are %s, want %s", bytes, got, want)
		}
	}
}
