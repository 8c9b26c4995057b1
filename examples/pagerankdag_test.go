package examples

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/examples/pagerankdag"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestRankOfARing checks that all nodes of a ring have the same rank.
func TestRankOfARing(t *testing.T) {
	in := mrtest.File(t, "ring", "a\tb\nb\tc\nc\ta\n")
	got := mrtest.Command(t, pagerankdag.Program(), "7", in, t.TempDir()+"/out")
	extest.Equal(t, got, "a\t1.000000000\nb\t1.000000000\nc\t1.000000000\n")
}

// TestSameBytesAsPagerank compares the output with the output of pagerank, which runs one
// job for each round.
func TestSameBytesAsPagerank(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 16))
	var input strings.Builder
	for range 5000 {
		fmt.Fprintf(&input, "n%d\tn%d\n", random.IntN(300), random.IntN(500))
	}
	in := mrtest.File(t, "edges", input.String())
	for _, rounds := range []string{"1", "6"} {
		args := func(out string) []string { return []string{rounds, in, out} }
		extest.Equal(t, extest.UnderAllVariants(t, pagerankdag.Program(), args), extest.UnderAllVariants(t, pagerank.Program(), args))
	}
}

func TestEmptyGraph(t *testing.T) {
	in := mrtest.File(t, "edges", "")
	if got := mrtest.Command(t, pagerankdag.Program(), "2", in, t.TempDir()+"/out"); got != "" {
		t.Errorf("ranks of no nodes: %q", got)
	}
}

func TestPagerankdagRefuses(t *testing.T) {
	extest.Refused(t, pagerankdag.Program(), "", "3", "in")
	extest.Refused(t, pagerankdag.Program(), "at least 1", "0", "in", "out")
	extest.Refused(t, pagerankdag.Program(), "at least 1", "few", "in", "out")
}
