// Package testlevel divides the tests into two levels. The gate (`make test`) runs before each change:
// every test once, with few seeds. `make nightly` sets HAMMR_TESTS=nightly: it also runs the tests
// that take long or need many processes, and random tests draw more seeds.
//
// A test that leaves the gate calls Nightly first, and its comment names the tests of the gate that
// guard the same property, on a line that internal/lint checks:
//
//	// Gate: TestDrill, chaos/simulate.TestPlans
//
// HAMMR_SEED moves the seeds of all random tests, so that a run searches elsewhere. A failure is
// repeated by the same HAMMR_SEED and level.
package testlevel

import (
	"iter"
	"os"
	"strconv"
	"testing"
)

const (
	levelVariable = "HAMMR_TESTS"
	seedVariable  = "HAMMR_SEED"

	// seedStride is the distance of the first seeds of two values of HAMMR_SEED. No test draws as many.
	seedStride = 1_000_000
)

// nightly reports whether the tests of `make nightly` run.
func nightly() bool { return os.Getenv(levelVariable) == "nightly" }

// Nightly skips the test unless `make nightly` runs it.
func Nightly(t testing.TB) {
	t.Helper()
	if !nightly() {
		t.Skip("runs in make nightly (" + levelVariable + "=nightly)")
	}
}

// Choose returns a size for the gate, or the one for `make nightly`.
func Choose[T any](gate, night T) T {
	if nightly() {
		return night
	}
	return gate
}

// Seeds returns the seeds of a random test: so many for the gate, or for `make nightly`. They are
// consecutive, from 0 if HAMMR_SEED is unset or 1.
func Seeds(gate, night int) iter.Seq[uint64] {
	first := (hammrSeed() - 1) * seedStride
	return func(yield func(uint64) bool) {
		for i := range uint64(Choose(gate, night)) {
			if !yield(first + i) {
				return
			}
		}
	}
}

// hammrSeed returns HAMMR_SEED, a number from 1, or 1 if it is unset.
func hammrSeed() uint64 {
	text := os.Getenv(seedVariable)
	if text == "" {
		return 1
	}
	seed, err := strconv.ParseUint(text, 10, 32)
	if err != nil || seed == 0 {
		panic("testlevel: " + seedVariable + "=" + text + " is not a number from 1 to 4294967295")
	}
	return seed
}
