package mr_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// careless looks up in a side that With has not given to its stage.
type careless struct{ side *mr.Side[string, string] }

func (c *careless) Setup(t *mr.Task) error {
	c.side.Lookup(t)
	return nil
}

func (c *careless) Map(*mr.Task, string, int64, countEmitter) error { return nil }

// translator joins words with a side, and checks that it gets each record ahead of Map, once.
type translator struct {
	side     *mr.Side[string, string]
	words    *mr.Lookup[string, string]
	expected []string // records that Ahead had and Map had not
	ahead    bool     // the records come from a pipe
}

func (r *translator) Setup(t *mr.Task) error {
	r.words = r.side.Lookup(t)
	return nil
}

func (r *translator) Ahead(word string, n int64) {
	r.words.Ahead(word)
	r.expected = append(r.expected, fmt.Sprint(word, n))
}

func (r *translator) Map(_ *mr.Task, word string, n int64, out textEmitter) error {
	if r.ahead {
		if len(r.expected) == 0 || r.expected[0] != fmt.Sprint(word, n) {
			return fmt.Errorf("%s %d is not the next of those that Ahead had: %q", word, n, r.expected)
		}
		r.expected = r.expected[1:]
	} else if len(r.expected) > 0 {
		return fmt.Errorf("Ahead had %q, which are not in memory", r.expected)
	}
	for meaning := range r.words.All(word) {
		out.Emit(word, meaning)
	}
	return nil
}

// Close implements mr.Closer.
func (r *translator) Close(*mr.Task, textEmitter) error {
	if len(r.expected) > 0 {
		return fmt.Errorf("%q are not mapped", r.expected)
	}
	return nil
}

// translate makes a job of a translator that reads words from a pipe or a file. It takes words
// from several Nodes, and writes each Node's output.
func translate(name string, connect func(*mr.Stage[string, int64]) mr.Channel[string, int64]) *mr.Definition {
	return mr.Define(name, none{}, func(g *mr.Graph, _ none) {
		meanings := mr.Read(g, "meanings", mr.KeyValueText(), textPairs()).Broadcast()
		words := mr.Read(g, "words", lineFile, tokens)
		r := &translator{side: meanings, ahead: name == "pipe"}
		mr.Write(mr.With(mr.Each(g, "translate", r, connect(words)), meanings), mr.TextOutput[string, string]())
	})
}

// TestLookAhead joins in both ways, and compares with a join by a Go map.
func TestLookAhead(t *testing.T) {
	var meanings, words strings.Builder
	twin := make(map[string][]string)
	for i := range 1000 {
		word, meaning := fmt.Sprintf("w%03d", i*7%300), fmt.Sprintf("meaning %d", i)
		fmt.Fprintf(&meanings, "%s\t%s\n", word, meaning)
		twin[word] = append(twin[word], meaning)
	}
	var want []string
	for i := range 3000 {
		word := fmt.Sprintf("w%03d", i*11%400)
		fmt.Fprintln(&words, word)
		for _, meaning := range twin[word] {
			want = append(want, word+"\t"+meaning+"\n")
		}
	}
	sorted := slices.Clone(want)
	slices.SortStableFunc(sorted, func(a, b string) int { return strings.Compare(a[:4], b[:4]) })
	for _, c := range []struct {
		name    string
		connect func(*mr.Stage[string, int64]) mr.Channel[string, int64]
		want    []string
	}{
		{"pipe", func(s *mr.Stage[string, int64]) mr.Channel[string, int64] { return s.Pipe() }, want},
		{"file", func(s *mr.Stage[string, int64]) mr.Channel[string, int64] { return s.Shuffle() }, sorted},
	} {
		args := []string{
			"-Dmapreduce.input.fileinputformat.split.maxsize=4000", "-Dmapreduce.job.reduces=1",
			mrtest.File(t, "meanings", meanings.String()), mrtest.File(t, "words", words.String()), t.TempDir() + "/out",
		}
		if got := mrtest.Command(t, translate(c.name, c.connect), args...); got != strings.Join(c.want, "") {
			t.Errorf("%s: %d bytes of output differ from what a map gives", c.name, len(got))
		}
	}
}
