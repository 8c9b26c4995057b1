//go:build soak

package shuffle

import "testing"

// TestSweepFoldRefused runs many more random tables than the gate.
func TestSweepFoldRefused(t *testing.T) {
	for seed := range uint64(20_000) {
		checkRefused(t, seed)
	}
}
