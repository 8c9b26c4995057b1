package mr_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// counts are the values of a key.
type counts = iter.Seq[int64]

// total ranges over values.
func total(values counts) (sum int64) {
	for v := range values {
		sum += v
	}
	return sum
}

// firstOf takes one value.
func firstOf(values counts) int64 {
	for v := range values {
		return v
	}
	return 0
}

// keepingReducer keeps the values of its last key until Close.
type keepingReducer struct{ values counts }

func (k *keepingReducer) Reduce(_ *mr.Task, _ string, values counts, _ countEmitter) error {
	k.values = values
	return nil
}

func (k *keepingReducer) Close(_ *mr.Task, out countEmitter) error {
	out.Emit("kept", total(k.values))
	return nil
}

const again = `of a key again after their end; keep what it needs in the first range`

// TestRangesOverValues calls a reducer that ranges over the values of its key several times.
func TestRangesOverValues(t *testing.T) {
	sumOf := func(f func(values counts) int64) mr.Reducer[string, int64, string, int64] {
		return mr.ReduceFunc(func(_ *mr.Task, key string, values counts, out countEmitter) error {
			out.Emit(key, f(values))
			return nil
		})
	}
	for name, c := range map[string]struct {
		reducer mr.Reducer[string, int64, string, int64]
		want    string // "": the job fails
	}{
		"once":              {sumOf(total), "a\t3\nb\t1\n"},
		"not at all":        {sumOf(func(counts) int64 { return 0 }), "a\t0\nb\t0\n"},
		"left and resumed":  {sumOf(func(v counts) int64 { return 10*firstOf(v) + total(v) }), "a\t12\nb\t10\n"},
		"twice":             {sumOf(func(v counts) int64 { return total(v) + total(v) }), ""},
		"after its reducer": {&keepingReducer{}, ""},
	} {
		job := func() *mr.Job[string, int64, string, int64] {
			return mr.New("ranges", mr.TextStrings(), tokensOf(), c.reducer, textual)
		}
		if c.want != "" {
			if got := mrtest.Run(t, job(), "a b a a\n").Text(); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
			continue
		}
		fails(t, job(), mr.ExitFailed, []string{inputDir(t, "a b a a\n"), outputDir(t)}, `stage "reduce" ranges over the values `+again)
	}
	twice := sumOf(func(v counts) int64 { return total(v) + total(v) })
	combined := mr.New("ranges", mr.TextStrings(), tokensOf(), sums, textual).Combine(twice)
	fails(t, combined, mr.ExitFailed, []string{inputDir(t, "a b a a\n"), outputDir(t)}, `combiner: stage "map" ranges over the values `+again)
}

// tokensOf emits 1 for each word.
func tokensOf() mr.Mapper[int64, string, string, int64] {
	return mr.MapFunc(func(_ *mr.Task, _ int64, line string, out countEmitter) error {
		for _, w := range strings.Fields(line) {
			out.Emit(w, 1)
		}
		return nil
	})
}

// TestRangesOverBothSides does the same with the values of a CoGroup.
func TestRangesOverBothSides(t *testing.T) {
	type both = func(left, right counts) int64
	for name, c := range map[string]struct {
		f    both
		want string // the output, or what is ranged over again
	}{
		"left, right":        {func(l, r counts) int64 { return 10*total(l) + total(r) }, "a\t21\nb\t10\n"},
		"right alone":        {func(_, r counts) int64 { return total(r) }, "a\t1\nb\t0\n"},
		"left and resumed":   {func(l, r counts) int64 { return 100*firstOf(l) + 10*total(l) + total(r) }, "a\t111\nb\t100\n"},
		"left twice":         {func(l, r counts) int64 { return total(l) + total(l) }, "left values"},
		"right twice":        {func(l, r counts) int64 { return total(r) + total(r) }, "right values"},
		"left after right":   {func(l, r counts) int64 { return total(r) + total(l) }, "left values"},
		"left between right": {func(l, r counts) int64 { return firstOf(r) + firstOf(l) }, "left values"},
	} {
		d := mr.Define("sides", none{}, func(g *mr.Graph, _ none) {
			left, right := mr.Read(g, "left", mr.TextStrings(), tokensOf()), mr.Read(g, "right", mr.TextStrings(), tokensOf())
			mr.Write(mr.CoGroup(g, "both", mr.CoReduceFunc(func(_ *mr.Task, key string, l, r counts, out countEmitter) error {
				out.Emit(key, c.f(l, r))
				return nil
			}), left.Shuffle(), right.Shuffle()), textual)
		})
		if c.want != "left values" && c.want != "right values" {
			if got := mrtest.RunGraph(t, d, mrtest.Case{Inputs: []string{"a a b\n", "a\n"}}).Text(); got != c.want {
				t.Errorf("%s: %q, want %q", name, got, c.want)
			}
			continue
		}
		args := []string{inputDir(t, "a a b\n"), inputDir(t, "a\n"), outputDir(t)}
		fails(t, d, mr.ExitFailed, args, fmt.Sprintf(`stage "both" ranges over the %s `, c.want)+again)
	}
}
