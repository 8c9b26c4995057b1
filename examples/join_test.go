package examples

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/join"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestJoinLikeTwin(t *testing.T) {
	inputs := []string{"a\t1\nb\t2\na\t3\nonly left\n", "b\tx\na\ty\na\tz\nonly right\n\tempty\n"}
	got := mrtest.RunGraph(t, join.Job, mrtest.Case{Inputs: inputs}).Text()
	extest.Equal(t, got, "a\t1\ty\na\t3\ty\na\t1\tz\na\t3\tz\nb\t2\tx\n")
}

// TestJoinUnderAllVariants compares the output with a join by a Go map.
func TestJoinUnderAllVariants(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	table := func(rows int) (keys, values []string, text string) {
		var b strings.Builder
		for i := range rows {
			keys = append(keys, fmt.Sprintf("k%04d", random.IntN(7000)))
			values = append(values, fmt.Sprint("v", i))
			fmt.Fprintf(&b, "%s\t%s\n", keys[i], values[i])
		}
		return keys, values, b.String()
	}
	leftKeys, leftValues, leftText := table(20_000)
	rightKeys, rightValues, rightText := table(40_000)
	lefts := make(map[string][]string)
	for i, key := range leftKeys {
		lefts[key] = append(lefts[key], leftValues[i])
	}
	var want []string
	for i, key := range rightKeys {
		for _, left := range lefts[key] {
			want = append(want, key+"\t"+left+"\t"+rightValues[i])
		}
	}
	slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(a[:5], b[:5]) })

	in1, in2 := mrtest.File(t, "left", leftText), mrtest.File(t, "right", rightText)
	got := extest.UnderAllVariants(t, join.Program(), func(out string) []string {
		return []string{"-D", "mapreduce.job.reduces=1", in1, in2, out}
	})
	extest.Equal(t, got, extest.Text(want))
}

func TestJoinRefuses(t *testing.T) {
	extest.Refused(t, join.Program(), "", "left", "right")
	extest.Refused(t, join.Program(), "", "left", "right", "more", "out")
}
