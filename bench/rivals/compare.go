package rivals

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/hammr/hammr/bench"
)

// tolerance is how far numbers of two results may be apart: absolute plus relative to the
// greater of both.
type tolerance struct{ absolute, relative float64 }

func (t tolerance) allows(a, b float64) bool {
	return math.Abs(a-b) <= t.absolute+t.relative*max(math.Abs(a), math.Abs(b))
}

// compare compares two outputs with a key in front of each line and numbers behind it. Lines
// may have any order. All are in memory.
func (t tolerance) compare(ours, rival string) error {
	a, errA := bench.LinesOf(ours, bench.Identity)
	b, errB := bench.LinesOf(rival, bench.Identity)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if len(a) != len(b) {
		return fmt.Errorf("results differ: %d records, rival %d", len(a), len(b))
	}
	slices.Sort(a)
	slices.Sort(b)
	for i := range a {
		if !t.sameNumbers(strings.Fields(a[i]), strings.Fields(b[i])) {
			return fmt.Errorf("results differ by more than %g and %g of the number: %q, rival %q", t.absolute, t.relative, a[i], b[i])
		}
	}
	return nil
}

// sameNumbers compares the fields of two lines. The first is the key.
func (t tolerance) sameNumbers(a, b []string) bool {
	if len(a) != len(b) || len(a) == 0 || a[0] != b[0] {
		return false
	}
	for i := 1; i < len(a); i++ {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if errX != nil || errY != nil || !t.allows(x, y) {
			return false
		}
	}
	return true
}
