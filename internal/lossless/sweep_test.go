//go:build soak

package lossless

import "testing"

// TestSweepMessages draws many more types and values than the gate.
func TestSweepMessages(t *testing.T) {
	for _, c := range messageCodecs {
		for seed := range uint64(200) {
			checkMessages(t, c, seed, 4_000)
		}
	}
}
