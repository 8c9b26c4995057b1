//go:build soak

package lossless

import "testing"

// TestSweepMessages draws many more types and values than the gate.
func TestSweepMessages(t *testing.T) {
	for _, c := range messageCodecs {
		for seed := range uint64(40) { // types are never freed: 40 seeds take 1 GB
			checkMessages(t, c, seed, 4_000)
		}
	}
}
