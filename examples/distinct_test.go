package examples

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/examples/distinct"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestDistinct(t *testing.T) {
	got := mrtest.Run(t, distinct.Job, "b\na\r\nb\n\n", "a\nc\n\n")
	var lines []string
	for _, r := range got.Records() {
		lines = append(lines, string(r.Key))
	}
	if want := []string{"", "a", "b", "c"}; !slices.Equal(lines, want) {
		t.Errorf("got %q, want %q", lines, want)
	}
}

func TestDistinctUnderAllVariants(t *testing.T) {
	lines := extest.Lines(1, 40_000)
	in := mrtest.File(t, "lines", extest.Text(lines))
	got := extest.UnderAllVariants(t, distinct.Program(), func(out string) []string {
		return []string{"-D", "mapreduce.job.reduces=1", in, out}
	})
	slices.Sort(lines)
	extest.Equal(t, got, extest.Text(slices.Compact(lines)))
}
