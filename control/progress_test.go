package control

import (
	"math"
	"testing"

	"github.com/hammr/hammr/cluster"
)

// TestProgressThatIsKnown counts from nowhere on; only what is no fraction is
// unknown.
func TestProgressThatIsKnown(t *testing.T) {
	id := cluster.AttemptID{Number: 1}
	for fraction, want := range map[float64]bool{0: true, .25: true, 1: true, -1: false, math.NaN(): false} {
		p := make(progress)
		p.told(7, id, cluster.MapSlot, fraction)
		if got, known := p.Progress(id); known != want || known && (got.Fraction != fraction || got.At != 7) {
			t.Errorf("fraction %v: %+v, %v", fraction, got, known)
		}
	}
}
