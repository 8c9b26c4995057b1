package control

import "testing"

// TestCopyTargets spreads copies: the machine with the fewest first, the machine that failed
// only if no other can make more.
func TestCopyTargets(t *testing.T) {
	targets := &copyTargets{{"a", "b"}, {"c"}}
	taken := ""
	for range 3*maxCopies - 1 {
		taken += targets.take("a")
	}
	if want := "bcbcbcbaaaa"; taken != want {
		t.Errorf("%s, want %s", taken, want)
	}
	if to := targets.take(""); to != "" {
		t.Errorf("%s makes too many copies", to)
	}
}
