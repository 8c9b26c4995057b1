package mr_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// topGraph lists the n first counts of words. A word is a []byte, so that a Top which keeps
// views of a buffer fails.
func topGraph(n int, order func(a, b mr.Pair[[]byte, int64]) int) *mr.Definition {
	return mr.Define("top", none{}, func(g *mr.Graph, _ none) {
		add := mr.Sum[[]byte, int64]()
		words := mr.Read(g, "words", mr.TextLines(), mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, int64]) error {
			for w := range mr.Words(line) {
				out.Emit(w, 1)
			}
			return nil
		}))
		counts := mr.Group(g, "counts", add, words.Shuffle().Combine(add))
		mr.Write(counts.Top(n, order), mr.TextOutput[[]byte, int64]())
	})
}

// TestTopAgainstASort compares the top of a graph with a sort of all counts, for several
// numbers of records, reduces and splits, and for an order that leaves ties.
func TestTopAgainstASort(t *testing.T) {
	text := lines(3000)
	counts := make(map[string]int64)
	for _, w := range strings.Fields(text) {
		counts[w]++
	}
	var all []mr.Pair[[]byte, int64]
	for w, n := range counts {
		all = append(all, mr.Pair[[]byte, int64]{First: []byte(w), Second: n})
	}
	orders := map[string]func(a, b mr.Pair[[]byte, int64]) int{
		"by value":   mr.ByValue[[]byte, int64],
		"by length":  func(a, b mr.Pair[[]byte, int64]) int { return cmp.Compare(len(a.First), len(b.First)) },
		"all equal":  func(_, _ mr.Pair[[]byte, int64]) int { return 0 },
		"least last": func(a, b mr.Pair[[]byte, int64]) int { return bytes.Compare(b.First, a.First) },
	}
	in := inputDir(t, text)
	for name, order := range orders {
		slices.SortFunc(all, func(a, b mr.Pair[[]byte, int64]) int {
			return cmp.Or(order(a, b), bytes.Compare(a.First, b.First))
		})
		for _, n := range []int{1, 7, 100_000} {
			var want strings.Builder
			for _, r := range all[:min(n, len(all))] {
				fmt.Fprintf(&want, "%s\t%d\n", r.First, r.Second)
			}
			out := outputDir(t)
			mrtest.Command(t, topGraph(n, order), "-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=9999", in, out)
			if got := filesIn(t, out)["part-r-00000"]; got != want.String() {
				t.Errorf("%s, first %d: %.80q, want %.80q", name, n, got, want.String())
			}
		}
	}
}

// TestTopOfASource checks that a source counts what it sends, which is at most n records a
// Node.
func TestTopOfASource(t *testing.T) {
	d := mr.Define("longest", none{}, func(g *mr.Graph, _ none) {
		read := mr.Read(g, "map", mr.TextStrings(), mr.MapFunc(func(_ *mr.Task, _ int64, line string, out countEmitter) error {
			out.Emit(line, int64(len(line)))
			return nil
		}))
		mr.Write(read.Top(2, mr.ByValue), textual)
	})
	got := mrtest.RunGraph(t, d, mrtest.Case{Inputs: []string{"a\nccc\nbb\nccc\nd\n"}})
	if want := "ccc\t3\nccc\t3\n"; got.Text() != want {
		t.Errorf("%q, want %q", got.Text(), want)
	}
	if n := got.Counters["Map-Reduce Framework"]["Map output records"]; n != 2 {
		t.Errorf("%d map output records, want 2", n)
	}
}

// TestTopDistinct requests more records than differ, of splits that share some. The key of a
// record is its first byte, so that records of one key differ in their values.
func TestTopDistinct(t *testing.T) {
	d := mr.Define("distinct", none{}, func(g *mr.Graph, _ none) {
		read := mr.Read(g, "map", mr.TextLines(), mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[[]byte, []byte]) error {
			out.Emit(line[:1], line)
			return nil
		}))
		mr.Write(read.TopDistinct(3, mr.ByKey), mr.TextOutput[[]byte, []byte]())
	})
	for want, inputs := range map[string][]string{
		"a\ta1\na\ta2\nb\tb\n": {"b\nc\na2\nb\na1\na1\na1\na1\n", "b\na1\nd\n"},
		"a\ta1\nb\tb\n":        {"b\na1\nb\na1\n", "b\na1\n"},
	} {
		if got := mrtest.RunGraph(t, d, mrtest.Case{Inputs: inputs}).Text(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTopRefuses(t *testing.T) {
	in, out := inputDir(t, "a\n"), outputDir(t)
	fails(t, topGraph(0, mr.ByValue), mr.ExitFailed, []string{in, out}, "top of 0 records; at least 1")
	fails(t, topGraph(1, nil), mr.ExitFailed, []string{in, out}, "top in an order that is nil")
	job := mr.New("top", mr.TextStrings(), pairs, mr.Top[string](0, cmp.Compare[string]), mr.TextOutput[string, string]())
	fails(t, job, mr.ExitFailed, []string{inputDir(t, "a b\n"), outputDir(t)}, "mr.Top of 0 values of each key")
}

// TestTopOfEachKey keeps the longest values of each key, with and without a combiner. Values
// of equal length remain in the order of the input.
func TestTopOfEachKey(t *testing.T) {
	longest := mr.Top[string](2, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	fields := mr.MapFunc(func(_ *mr.Task, _ int64, line []byte, out mr.Emitter[string, []byte]) error {
		key, value, _ := bytes.Cut(line, []byte(" "))
		out.Emit(string(key), value)
		return nil
	})
	text := "a 1\nb 22\na 333\na 222\na 111\nb 1\na 22\nc 9\n"
	const want = "a\t333\na\t222\nb\t22\nb\t1\nc\t9\n"
	for _, combine := range []bool{false, true} {
		job := mr.New("longest", mr.TextLines(), fields, longest, mr.TextOutput[string, []byte]())
		if combine {
			job = job.Combine(longest)
		}
		if got := mrtest.Run(t, job, text, "b 333\n").Text(); got != strings.Replace(want, "b\t22\nb\t1", "b\t333\nb\t22", 1) {
			t.Errorf("combine %v: %q", combine, got)
		}
	}
}
