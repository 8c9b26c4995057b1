//go:build soak

package format_test

import "testing"

// TestSweepFlippedBits flips each bit of each file.
func TestSweepFlippedBits(t *testing.T) {
	flipBits(t, func(c *flipCase) func() int {
		bit := -1
		return func() int {
			if bit++; bit == 8*len(c.file) {
				return -1
			}
			return bit
		}
	})
}
