package mr_test

import (
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// share emits each word with its part of all words, which the totals of the last stage give.
type share struct {
	last *mr.Side[string, int64]
	all  int64
}

func (s *share) Setup(t *mr.Task) error {
	s.all, _ = s.last.Lookup(t).Get("words")
	if _, found := s.last.Lookup(t).Get("combined"); found {
		return fmt.Errorf("the combiner has added to the totals")
	}
	return nil
}

func (s *share) Reduce(t *mr.Task, word string, counts iter.Seq[int64], out textEmitter) error {
	var n int64
	for count := range counts {
		n += count
	}
	t.Total(word[:1]).Add(n)
	out.Emit(word, fmt.Sprintf("%d of %d", n, s.all))
	return nil
}

// Close adds to the totals after the last record.
func (s *share) Close(t *mr.Task, _ textEmitter) error {
	t.Total("nodes").Add(1)
	return nil
}

// wordShares defines a graph in which totals of a Read and of a Group are sides.
func wordShares() *mr.Definition {
	return mr.Define("shares", none{}, func(g *mr.Graph, _ none) {
		read := mr.Read(g, "read", mr.TextStrings(), mr.MapFunc(func(t *mr.Task, _ int64, line string, out countEmitter) error {
			for word := range strings.FieldsSeq(line) {
				t.Total("words").Add(1)
				out.Emit(word, 1)
			}
			return nil
		}))
		add := mr.ReduceFunc(func(t *mr.Task, word string, counts iter.Seq[int64], out countEmitter) error {
			t.Total("combined").Add(1)
			return sums.Reduce(t, word, counts, out)
		})
		words := read.Totals()
		counts := mr.With(mr.Group(g, "counts", mr.Reducer[string, int64, string, string](&share{last: words}), read.Shuffle().Combine(add)), words)
		letters := counts.Totals()
		mr.Write(counts, mr.TextOutput[string, string]())
		first := counts.Top(1, func(mr.Pair[string, string], mr.Pair[string, string]) int { return 0 })
		end := mr.Each(g, "letters", mr.Mapper[string, string, string, int64](&list{letters}), first.Gather())
		mr.WriteAs(mr.With(end, letters), "letters", textual)
	})
}

// list emits all of a side for its only record.
type list struct{ side *mr.Side[string, int64] }

func (l *list) Map(t *mr.Task, _, _ string, out countEmitter) error {
	for name, total := range l.side.All(t) {
		out.Emit(name, total)
	}
	return nil
}

// TestTotals checks that totals are those of all Nodes, in however many splits and Nodes.
func TestTotals(t *testing.T) {
	input := strings.Repeat("ant bee cat\nbee ape\n\ncow\n", 300)
	for _, size := range []string{"100", "999", "99999"} {
		for _, reduces := range []int64{1, 3} {
			got := mrtest.RunGraph(t, wordShares(), mrtest.Case{Inputs: []string{input}, Set: map[string]string{
				"mapreduce.input.fileinputformat.split.maxsize": size, "mapreduce.job.reduces": fmt.Sprint(reduces),
			}})
			var lines []string
			for name, text := range got.Files {
				if strings.HasPrefix(name, "part-") {
					lines = append(lines, strings.Split(strings.TrimSpace(text), "\n")...)
				}
			}
			if len(lines) != 5 || !strings.Contains(strings.Join(lines, "\n"), "bee\t600 of 1800") {
				t.Errorf("splits of %s bytes, %d nodes: %q", size, reduces, lines)
			}
			if want := fmt.Sprintf("a\t600\nb\t600\nc\t600\nnodes\t%d\n", reduces); got.Files["letters-r-00000"] != want {
				t.Errorf("splits of %s bytes, %d nodes: totals %q, want %q", size, reduces, got.Files["letters-r-00000"], want)
			}
		}
	}
}

// TestTotalsOfNoRecords checks that totals that no Node has added to are missing.
func TestTotalsOfNoRecords(t *testing.T) {
	got := mrtest.RunGraph(t, wordShares(), mrtest.Case{Inputs: []string{""}})
	if got.Text() != "" || got.Files["letters-r-00000"] != "" {
		t.Errorf("%q", got.Files)
	}
}
