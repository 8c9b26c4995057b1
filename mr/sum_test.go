package mr_test

import (
	"fmt"
	"iter"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// collected is an Emitter that keeps the values of all keys.
type collected[V any] []V

func (c *collected[V]) Emit(_ string, v V) { *c = append(*c, v) }

// checkSum sums random values near the limits of V and 0, and compares with the exact sum.
func checkSum[V int8 | int16 | int32 | int64 | uint8 | uint32 | uint64](t *testing.T, least, most V) {
	r := rand.New(rand.NewPCG(1, uint64(most)))
	fits, exceeds := 0, 0
	for range 3000 {
		values, exact := make([]V, 1+r.IntN(8)), new(big.Int)
		for i := range values {
			values[i] = []V{least, most, least + 1, most - 1, 0, 1, V(r.Uint64())}[r.IntN(7)]
			n, _ := new(big.Int).SetString(fmt.Sprint(values[i]), 10)
			exact.Add(exact, n)
		}
		var out collected[V]
		err := mr.Sum[string, V]().Reduce(nil, "k", slices.Values(values), &out)
		if lo, _ := new(big.Int).SetString(fmt.Sprint(least), 10); exact.Cmp(lo) >= 0 {
			if hi, _ := new(big.Int).SetString(fmt.Sprint(most), 10); exact.Cmp(hi) <= 0 {
				fits++
				if err != nil || len(out) != 1 || fmt.Sprint(out[0]) != exact.String() {
					t.Fatalf("%T %v: %v, %v; want %v", least, values, out, err, exact)
				}
				continue
			}
		}
		exceeds++
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("mr.Sum: key \"k\": the sum is %v, which does not fit %T;", exact, least)) {
			t.Fatalf("%T %v: %v, %v; the sum is %v", least, values, out, err, exact)
		}
	}
	if fits < 100 || exceeds < 100 {
		t.Errorf("%T: %d sums fit and %d do not: a one-sided sample", least, fits, exceeds)
	}
}

func TestSumsAreExactOrRefused(t *testing.T) {
	checkSum[int8](t, math.MinInt8, math.MaxInt8)
	checkSum[int16](t, math.MinInt16, math.MaxInt16)
	checkSum[int32](t, math.MinInt32, math.MaxInt32)
	checkSum[int64](t, math.MinInt64, math.MaxInt64)
	checkSum[uint8](t, 0, math.MaxUint8)
	checkSum[uint32](t, 0, math.MaxUint32)
	checkSum[uint64](t, 0, math.MaxUint64)
}

func TestSumsOfFloatsAreRounded(t *testing.T) {
	var out collected[float64]
	if err := mr.Sum[string, float64]().Reduce(nil, "k", slices.Values([]float64{math.MaxFloat64, math.MaxFloat64, 1}), &out); err != nil || !math.IsInf(out[0], 1) {
		t.Errorf("%v, %v", out, err)
	}
}

// numbersOf returns a job that sums the second word of each line for the first.
func numbersOf() *mr.Job[string, int64, string, int64] {
	return mr.New("numbers", mr.TextStrings(), mr.MapFunc(func(_ *mr.Task, _ int64, line string, out countEmitter) error {
		var key string
		var n int64
		_, err := fmt.Sscan(line, &key, &n)
		out.Emit(key, n)
		return err
	}), sums, textual)
}

// TestSumsUnderEverySplitAndOrder sums the same numbers in several orders and splits, with and
// without a combiner. Partial sums exceed an int64, and the total fits or does not.
func TestSumsUnderEverySplitAndOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, last := range []int64{-5, 5} {
		numbers := []int64{math.MaxInt64, 1, last, math.MaxInt64, -math.MaxInt64, 3, math.MinInt64, math.MaxInt64, 1, 0}
		for round := range 6 {
			r.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
			inputs := make([]string, 1+r.IntN(3))
			for i, n := range numbers {
				inputs[i%len(inputs)] += fmt.Sprintf("k %d\nother 1\n", n)
			}
			job := numbersOf()
			if round%3 > 0 {
				job.Combine(sums)
			}
			fail := last == 5
			c := mrtest.Case{Inputs: inputs, Fails: fail}
			got := mrtest.RunCase(t, job, c)
			if want := fmt.Sprintf("k\t%d\nother\t10\n", math.MaxInt64-1); !fail && got.Text() != want {
				t.Errorf("%v: %q, want %q", numbers, got.Text(), want)
			}
		}
	}
	fails(t, numbersOf().Combine(sums), mr.ExitFailed, []string{inputDir(t, fmt.Sprintf("k %d\nk 1\n", math.MaxInt64)), outputDir(t)},
		`mr.Sum: key "k": the sum is 9223372036854775808, which does not fit int64; sum values of a larger type`)
}

// TestTotalsThatDoNotFit adds to a total beyond an int64, and back.
func TestTotalsThatDoNotFit(t *testing.T) {
	job := func(steps ...int64) *mr.Definition {
		return mr.Define("totals", none{}, func(g *mr.Graph, _ none) {
			read := mr.Read(g, "read", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out countEmitter) error {
				for _, n := range steps {
					t.Total("n").Add(n)
				}
				out.Emit(line, 1)
				return nil
			}))
			totals := read.Totals()
			mr.Write(mr.With(mr.Group(g, "last", mr.ReduceFunc(func(t *mr.Task, _ string, _ iter.Seq[int64], out countEmitter) error {
				n, _ := totals.Lookup(t).Get("n")
				out.Emit("n", n)
				return nil
			}), read.Shuffle()), totals), textual)
		})
	}
	if got := mrtest.RunGraph(t, job(math.MaxInt64, 1, -2), mrtest.Case{Inputs: []string{"a\n"}}).Text(); got != fmt.Sprintf("n\t%d\n", math.MaxInt64-1) {
		t.Errorf("%q", got)
	}
	fails(t, job(math.MaxInt64, 1), mr.ExitFailed, []string{inputDir(t, "a\n"), outputDir(t)}, `total "n" of a node: it does not fit an int64`)
}
