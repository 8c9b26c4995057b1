package examples

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/secondarysort"
	"github.com/hammr/hammr/mr/mrtest"
)

// groupSeparator is the line that Hadoop's program writes before each group.
const groupSeparator = "------------------------------------------------"

// TestSecondarySort compares the output with the output of Hadoop 3.4 for the same input.
func TestSecondarySort(t *testing.T) {
	in := mrtest.File(t, "numbers", "1 5\n1 3\n-2 7\n9\n\n1 -4\n-2 -7\n  9   8 x\n")
	got := mrtest.Command(t, secondarysort.Program(), in, t.TempDir()+"/out")
	const line = groupSeparator + "\n"
	extest.Equal(t, got, line+"-2\t-7\n-2\t7\n"+line+"1\t-4\n1\t3\n1\t5\n"+line+"9\t0\n9\t8\n")
}

func TestSecondarySortUnderAllVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	pairs := make([][2]int, 40_000)
	var input strings.Builder
	for i := range pairs {
		pairs[i] = [2]int{random.IntN(40) - 20, random.IntN(1<<32) - 1<<31}
		fmt.Fprintf(&input, "%d\t%d\n", pairs[i][0], pairs[i][1])
	}
	slices.SortFunc(pairs, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	var want strings.Builder
	for i, p := range pairs {
		if i == 0 || p[0] != pairs[i-1][0] {
			fmt.Fprintln(&want, groupSeparator)
		}
		fmt.Fprintf(&want, "%d\t%d\n", p[0], p[1])
	}
	in := mrtest.File(t, "numbers", input.String())
	got := extest.UnderAllVariants(t, secondarysort.Program(), func(out string) []string {
		return []string{"-D", "mapreduce.job.reduces=1", in, out}
	})
	extest.Equal(t, got, want.String())
}

func TestSecondarySortFailsOnWords(t *testing.T) {
	for _, line := range []string{"one 2", "1 two", "1 2147483648"} {
		mrtest.RunCase(t, secondarysort.Job, mrtest.Case{Inputs: []string{line}, Fails: true})
	}
}
