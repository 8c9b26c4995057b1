package mean

import (
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/examples/internal/decimal"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestMean(t *testing.T) {
	got := mrtest.Run(t, Job, "a\t1\nb\t-2.5\na\t2\nb\t-2.500001\nc\t1\nc\t1\nc\t2\n").Text()
	extest.Equal(t, got, "a\t1.5\nb\t-2.500001\nc\t1.333333\n")
}

func TestMeanFailsOnANonNumber(t *testing.T) {
	mrtest.RunCase(t, Job, mrtest.Case{Inputs: []string{"a\tone\n"}, Fails: true})
}

// TestMeanUnderAllVariants compares the output with the exact means of the same numbers.
func TestMeanUnderAllVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	sums, counts := make(map[string]*big.Rat), make(map[string]int64)
	var input strings.Builder
	for range 10_000 {
		key := fmt.Sprintf("key%d", random.IntN(50))
		n := decimal.Number(random.Int64N(2_000_000_000_000) - 1_000_000_000_000)
		fmt.Fprintf(&input, "%s\t%v\n", key, n)
		if sums[key] == nil {
			sums[key] = new(big.Rat)
		}
		sums[key].Add(sums[key], big.NewRat(int64(n), int64(decimal.One)))
		counts[key]++
	}
	var want []string
	for key, sum := range sums {
		mean := sum.Quo(sum, big.NewRat(counts[key], 1)).FloatString(6)
		want = append(want, key+"\t"+strings.TrimRight(strings.TrimRight(mean, "0"), "."))
	}
	slices.Sort(want)

	in := mrtest.File(t, "numbers", input.String())
	got := extest.UnderAllVariants(t, Program(), func(out string) []string { return []string{in, out} })
	lines := slices.Sorted(strings.Lines(got))
	extest.Equal(t, strings.Join(lines, ""), extest.Text(want))
	if len(lines) != len(slices.Collect(maps.Keys(sums))) {
		t.Errorf("%d keys, want %d", len(lines), len(sums))
	}
}

// TestTallyIsExact adds numbers near the bounds, grouped in random ways.
func TestTallyIsExact(t *testing.T) {
	extreme := rapid.OneOf(rapid.Int64(), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, -1, 0}))
	rapid.Check(t, func(t *rapid.T) {
		numbers := rapid.SliceOfN(extreme, 1, 20).Draw(t, "numbers")
		sum := new(big.Int)
		for _, n := range numbers {
			sum.Add(sum, big.NewInt(n))
		}
		cut := rapid.IntRange(0, len(numbers)).Draw(t, "cut")
		got := meanOf(add(tallyAll(numbers[:cut]), tallyAll(numbers[cut:])))
		mean := new(big.Rat).SetFrac(sum, big.NewInt(int64(len(numbers))))
		if want := mean.FloatString(0); fmt.Sprint(int64(got)) != want && want != "-0" {
			t.Fatalf("mean of %d: %d, want %s", numbers, int64(got), want)
		}
	})
}

func tallyAll(numbers []int64) (all tally) {
	for _, n := range numbers {
		all = add(all, tallyOf(decimal.Number(n)))
	}
	return all
}
