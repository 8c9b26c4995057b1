package tasknoded

import "testing"

// TestParseMeminfo parses texts of kernels that lack a value, and checks that the value is
// then 0.
func TestParseMeminfo(t *testing.T) {
	for name, tt := range map[string]struct {
		text            string
		available, swap int64
	}{
		"usual":   {"MemTotal:       24684388 kB\nMemFree:         100 kB\nMemAvailable:   23569716 kB\nSwapTotal:  32 kB\nSwapFree:  16 kB\nHugePages_Total:       0\n", 23569716 << 10, 16 << 10},
		"no swap": {"MemAvailable:   1 kB\nSwapFree:              0 kB\n", 1 << 10, 0},
		"garbage": {"MemAvailable:   lots kB\nSwapFree\n\n:\n", 0, 0},
		"nothing": {},
	} {
		if available, swap := parseMeminfo(tt.text); available != tt.available || swap != tt.swap {
			t.Errorf("%s: %d and %d, want %d and %d", name, available, swap, tt.available, tt.swap)
		}
	}
}
