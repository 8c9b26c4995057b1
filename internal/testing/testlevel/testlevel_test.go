package testlevel

import (
	"slices"
	"testing"
)

func TestSeeds(t *testing.T) {
	for _, c := range []struct {
		level, seed string
		want        []uint64
	}{
		{"", "", []uint64{0, 1}},
		{"", "1", []uint64{0, 1}},
		{"", "3", []uint64{2_000_000, 2_000_001}},
		{"nightly", "2", []uint64{1_000_000, 1_000_001, 1_000_002}},
	} {
		t.Setenv(levelVariable, c.level)
		t.Setenv(seedVariable, c.seed)
		if got := slices.Collect(Seeds(2, 3)); !slices.Equal(got, c.want) {
			t.Errorf("level %q, seed %q: seeds %v, want %v", c.level, c.seed, got, c.want)
		}
	}
}

func TestSeedThatIsNoNumber(t *testing.T) {
	for _, seed := range []string{"0", "x", "-1", "4294967296"} {
		t.Setenv(seedVariable, seed)
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("HAMMR_SEED=%s: no panic", seed)
				}
			}()
			Seeds(1, 1)
		}()
	}
}

func TestNightly(t *testing.T) {
	for level, skipped := range map[string]bool{"": true, "gate": true, "nightly": false} {
		t.Setenv(levelVariable, level)
		r := &recorder{TB: t}
		Nightly(r)
		if r.skipped != skipped {
			t.Errorf("level %q: skipped %v, want %v", level, r.skipped, skipped)
		}
	}
}

// recorder remembers whether a test was skipped.
type recorder struct {
	testing.TB
	skipped bool
}

func (r *recorder) Skip(...any) { r.skipped = true }
