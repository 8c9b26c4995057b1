package examples

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/pagerank"
	"github.com/hammr/hammr/mr/mrtest"
)

// TestPageRankOfARing checks that all nodes of a ring have the same rank.
func TestPageRankOfARing(t *testing.T) {
	in := mrtest.File(t, "ring", "a\tb\nb\tc\nc\ta\n")
	got := mrtest.Command(t, pagerank.Program(), "7", in, t.TempDir()+"/out")
	extest.Equal(t, got, "a\t1.000000000\nb\t1.000000000\nc\t1.000000000\n")
}

// TestPageRankByHand runs two rounds over a star with an idle node and compares the ranks
// with a calculation by hand. The nodes a and b link to c; c and d have no links.
func TestPageRankByHand(t *testing.T) {
	in := mrtest.File(t, "star", "a\tc\nb\tc\nd\n")
	one := mrtest.Command(t, pagerank.Program(), "1", in, t.TempDir()+"/out")
	// c and d have no links, so each node gets 0.15 + 0.85*2/4. c gets 0.85*2 in addition.
	extest.Equal(t, one, "a\t0.575000000\nb\t0.575000000\nc\t2.275000000\nd\t0.575000000\n")
	two := mrtest.Command(t, pagerank.Program(), "2", in, t.TempDir()+"/out")
	// Each node gets 0.15 + 0.85*2.85/4 = 0.755625. c gets 0.85*1.15 in addition.
	extest.Equal(t, two, "a\t0.755625000\nb\t0.755625000\nc\t1.733125000\nd\t0.755625000\n")
}

// TestPageRankUnderAllVariants checks that the ranks are close to ranks in floating point,
// and that the output has the same bytes each time.
func TestPageRankUnderAllVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	links := make(map[string][]string)
	var input strings.Builder
	for range 3000 {
		from, to := fmt.Sprint("n", random.IntN(300)), fmt.Sprint("n", random.IntN(400))
		fmt.Fprintf(&input, "%s\t%s\n", from, to)
		links[from] = append(links[from], to)
		if links[to] == nil {
			links[to] = []string{} // a node may have no links
		}
	}
	want := floatRanks(links, 8)
	in := mrtest.File(t, "edges", input.String())
	got := extest.UnderAllVariants(t, pagerank.Program(), func(out string) []string { return []string{"8", in, out} })
	seen := 0
	for line := range strings.Lines(got) {
		node, text, _ := strings.Cut(strings.TrimSpace(line), "\t")
		rank, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Abs(rank-want[node]) > 1e-6 {
			t.Errorf("%s: rank %s, want %.9f", node, text, want[node])
		}
		seen++
	}
	if seen != len(links) {
		t.Errorf("%d nodes, want %d", seen, len(links))
	}
}

func floatRanks(links map[string][]string, rounds int) map[string]float64 {
	ranks := make(map[string]float64)
	for node := range links {
		ranks[node] = 1
	}
	for range rounds {
		next, stranded := make(map[string]float64), 0.0
		for node, targets := range links {
			for _, target := range targets {
				next[target] += ranks[node] / float64(len(targets))
			}
			if len(targets) == 0 {
				stranded += ranks[node]
			}
		}
		for node := range links {
			next[node] = 0.15 + 0.85*(next[node]+stranded/float64(len(links)))
		}
		ranks = next
	}
	return ranks
}

// TestPageRankCleansUp checks that only the output remains, for lines with several links and
// for lines with one link.
func TestPageRankCleansUp(t *testing.T) {
	lists := mrtest.File(t, "lists", "a\tb\tc\nb\tc\n")
	edges := mrtest.File(t, "edges", "a\tb\nb\tc\na\tc\n")
	dir := t.TempDir()
	fromLists := mrtest.Command(t, pagerank.Program(), "3", lists, filepath.Join(dir, "out"))
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
	extest.Equal(t, fromLists, mrtest.Command(t, pagerank.Program(), "3", edges, filepath.Join(dir, "out2")))
}

func TestPageRankRefuses(t *testing.T) {
	extest.Refused(t, pagerank.Program(), "", "3", "in")
	extest.Refused(t, pagerank.Program(), "at least 1", "0", "in", "out")
	extest.Refused(t, pagerank.Program(), "at least 1", "few", "in", "out")
}
