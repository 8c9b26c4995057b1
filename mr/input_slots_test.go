package mr_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// longLines returns lines of 10,000 bytes, which begin with a number that is out of order.
func longLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%06d%s\n", i*7919%n, strings.Repeat("x", 9993))
	}
	return b.String()
}

// TestSplitsFitTheSlots runs a job with any number of slots, with and without a bound of the
// user. The files of a job with a total order are the same: the client samples the same keys.
func TestSplitsFitTheSlots(t *testing.T) {
	first := mr.MapFunc(func(_ *mr.Task, _ int64, line string, out countEmitter) error {
		out.Emit(line[:6], 1)
		return nil
	})
	job := mr.New("slots", mr.TextStrings(), first, mr.Sum[string, int64](), mr.TextOutput[string, int64]()).TotalOrder()
	in := inputDir(t, longLines(1300), longLines(1000)) // 12.4 and 9.5 MiB, less than a block each
	var want map[string]string
	for _, c := range []struct{ workers, minSize, splits string }{
		{"1", "1", "5"}, // about 5.5 MiB: three of the first file, two of the second
		{"4", "1", "6"}, // at least 4 MiB
		{"4", "16m", "2"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		got := mrtest.Exec(t, job, "--workers", c.workers, "-D", "mapreduce.job.reduces=3",
			"-D", "mapreduce.input.fileinputformat.split.minsize="+c.minSize, in, out)
		if got.Code != mr.ExitDone {
			t.Fatal(got.Stderr)
		}
		if n := regexp.MustCompile(`number of splits:(\d+)`).FindStringSubmatch(got.Stderr); len(n) < 2 || n[1] != c.splits {
			t.Errorf("%+v: %v", c, n)
		}
		files := filesIn(t, out)
		if want == nil {
			want = files
		}
		if len(files) != 4 || !maps.Equal(files, want) {
			t.Errorf("%+v: other files", c)
		}
	}
}
