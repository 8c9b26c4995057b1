package examples

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/histogram"
	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestHistogram(t *testing.T) {
	in := mrtest.File(t, "numbers", "0 2.4 2.5\n\n-0.1 7\n-2.5\n")
	got := mrtest.Command(t, histogram.Program(), "2.5", in, t.TempDir()+"/out")
	extest.Equal(t, got, "-2.5\t2\n0\t2\n2.5\t1\n5\t1\n")
}

func TestHistogramUnderAllVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	counts := make(map[int]int)
	var input strings.Builder
	for range 10_000 {
		n := random.NormFloat64() * 100
		n = math.Round(n*1000) / 1000
		fmt.Fprintf(&input, "%.3f\n", n)
		counts[int(math.Floor(n/20))*20]++
	}
	var want strings.Builder
	for _, bound := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&want, "%d\t%d\n", bound, counts[bound])
	}
	in := mrtest.File(t, "numbers", input.String())
	got := extest.UnderAllVariants(t, histogram.Program(), func(out string) []string { return []string{"20", in, out} })
	extest.Equal(t, got, want.String())
}

func TestHistogramRefuses(t *testing.T) {
	extest.Refused(t, histogram.Program(), "", "5", "in")
	extest.Refused(t, histogram.Program(), "more than 0", "0", "in", "out")
	extest.Refused(t, histogram.Program(), "more than 0", "-1", "in", "out")
	extest.Refused(t, histogram.Program(), "decimal number", "wide", "in", "out")
	least := decimal.Number(math.MinInt64).String()
	mrtest.RunCase(t, histogram.Job, mrtest.Case{Inputs: []string{least}, Config: histogram.Config{Width: 3 * decimal.One}, Fails: true})
}
