package doctor

import "testing"

// TestReach connects to a port that accepts connections, to one that is closed, and to a name
// that does not exist.
func TestReach(t *testing.T) {
	target := newTarget(t)
	expect(t, run(t, target, "reach"), want{Skipped, "no addresses"})
	open, closed, unknown := listen(t).Addr().String(), refusing(t), "no-such-host.invalid:7070"
	target.Reach = []string{open, closed, unknown}
	found := run(t, target, "reach")
	expect(t, found, want{OK, open + " accepts connections"}, want{Fault, closed + " cannot be reached: "}, want{Fault, unknown + " cannot be reached: "})
	if found[0].Millis <= 0 || found[1].Millis != 0 {
		t.Errorf("times are %v and %v ms", found[0].Millis, found[1].Millis)
	}
}
