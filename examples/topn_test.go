package examples

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/topn"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestTopN(t *testing.T) {
	in := mrtest.File(t, "text", "b a c b\nc b a d\n")
	for n, want := range map[string]string{
		"1": "b\t3\n",
		"3": "b\t3\na\t2\nc\t2\n",
		"9": "b\t3\na\t2\nc\t2\nd\t1\n",
	} {
		got := mrtest.Command(t, topn.Program(), n, in, t.TempDir()+"/out")
		extest.Equal(t, got, want)
	}
}

func TestTopNUnderAllVariants(t *testing.T) {
	lines := extest.Lines(3, 5000)
	counts := make(map[string]int)
	for _, word := range strings.Fields(extest.Text(lines)) {
		counts[word]++
	}
	var words []string
	for word := range counts {
		words = append(words, word)
	}
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var want strings.Builder
	for _, word := range words[:50] {
		fmt.Fprintf(&want, "%s\t%d\n", word, counts[word])
	}
	a := mrtest.File(t, "a", extest.Text(lines[:3000]))
	b := mrtest.File(t, "b", extest.Text(lines[3000:]))
	got := extest.UnderAllVariants(t, topn.Program(), func(out string) []string { return []string{"50", a, b, out} })
	extest.Equal(t, got, want.String())
}

func TestTopNRefuses(t *testing.T) {
	extest.Refused(t, topn.Program(), "", "5", "in")
	extest.Refused(t, topn.Program(), `n "0": expected a whole number of at least 1`, "0", "in", "out")
	extest.Refused(t, topn.Program(), `n "five": expected a whole number`, "five", "in", "out")
}
