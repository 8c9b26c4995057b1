package examples

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/broadcastjoin"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/join"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestBroadcastJoin(t *testing.T) {
	small := mrtest.File(t, "small", "a\t1\nb\t2\na\t3\nonly small\n")
	big := mrtest.File(t, "big", "b\tx\na\ty\na\tz\nonly big\n\tempty\n")
	const ofA, ofB = "a\t1\ty\na\t3\ty\na\t1\tz\na\t3\tz\n", "b\t2\tx\n"
	got := mrtest.Command(t, broadcastjoin.Program(), small, big, t.TempDir()+"/out")
	extest.Equal(t, got, ofA+ofB)
	got = mrtest.Command(t, broadcastjoin.Program(), "-unsorted", small, big, t.TempDir()+"/out")
	extest.Equal(t, got, ofB+ofA)
}

// TestSameBytesAsJoin compares the output with the output of the program join, which sorts
// both inputs. With -unsorted the output has the same lines.
func TestSameBytesAsJoin(t *testing.T) {
	random := rand.New(rand.NewPCG(21, 22))
	table := func(rows int) string {
		var b strings.Builder
		for i := range rows {
			fmt.Fprintf(&b, "k%04d\tv%d\n", random.IntN(3000), i)
		}
		return b.String()
	}
	small, big := mrtest.File(t, "small", table(2000)), mrtest.File(t, "big", table(20_000))
	args := func(out string) []string { return []string{small, big, out} }
	unsorted := func(out string) []string { return append([]string{"-unsorted"}, args(out)...) }
	want := extest.UnderAllVariants(t, join.Program(), args)
	extest.Equal(t, extest.UnderAllVariants(t, broadcastjoin.Program(), args), want)
	extest.Equal(t, lines(extest.UnderAllVariants(t, broadcastjoin.Program(), unsorted)), lines(want))
}

// lines returns the lines of a text in order.
func lines(text string) string {
	return strings.Join(slices.Sorted(strings.Lines(text)), "")
}

func TestBroadcastJoinRefuses(t *testing.T) {
	extest.Refused(t, broadcastjoin.Program(), "option -order: not known", "-order", "small", "big", "out")
	extest.Refused(t, broadcastjoin.Program(), "", "small", "big")
	extest.Refused(t, broadcastjoin.Program(), "", "small", "big", "more", "out")
}
