package join

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestJoin(t *testing.T) {
	got := mrtest.Run(t, Job, "a\t1\nb\t2\na\t3\nonly left\n", "b\tx\na\ty\na\tz\nonly right\n\tempty\n").Text()
	extest.Equal(t, got, "a\t1\ty\na\t3\ty\na\t1\tz\na\t3\tz\nb\t2\tx\n")
}

// TestJoinAnyWay compares with a nested loop.
func TestJoinAnyWay(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	table := func(rows int) (keys, values []string, text string) {
		for i := range rows {
			keys = append(keys, fmt.Sprintf("k%03d", random.IntN(700)))
			values = append(values, fmt.Sprint("v", i))
			text += keys[i] + "\t" + values[i] + "\n"
		}
		return keys, values, text
	}
	leftKeys, leftValues, leftText := table(1000)
	rightKeys, rightValues, rightText := table(2000)
	var want []string
	for i, r := range rightKeys {
		for j, l := range leftKeys {
			if l == r {
				want = append(want, l+"\t"+leftValues[j]+"\t"+rightValues[i])
			}
		}
	}
	slices.SortStableFunc(want, func(a, b string) int { return strings.Compare(a[:4], b[:4]) })

	in1, in2 := mrtest.File(t, "left", leftText), mrtest.File(t, "right", rightText)
	got := extest.AnyWay(t, Program(), func(out string) []string {
		return []string{"-D", "mapreduce.job.reduces=1", in1, in2, out}
	})
	extest.Equal(t, got, extest.Text(want))
}

func TestJoinRefuses(t *testing.T) {
	extest.Refused(t, Program(), "", "left", "right")
	extest.Refused(t, Program(), "", "left", "right", "more", "out")
}
