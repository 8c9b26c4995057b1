package examples

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/examples/sort"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr/mrtest"
)

// binaryLines returns lines of any bytes but LF. Many of the lines are equal.
func binaryLines(n int) []string {
	random := rand.New(rand.NewPCG(5, 6))
	lines := make([]string, n)
	for i := range lines {
		line := make([]byte, random.IntN(20))
		for j := range line {
			line[j] = "a\x00\r\xff\tz"[random.IntN(6)]
		}
		lines[i] = string(line)
	}
	return lines
}

func TestSortUnderAllVariants(t *testing.T) {
	lines := binaryLines(100_000)
	in := mrtest.File(t, "lines", extest.Text(lines))
	got := extest.UnderAllVariants(t, sort.Program(), func(out string) []string { return []string{in, out} })
	slices.Sort(lines)
	extest.Equal(t, got, extest.Text(lines))
}

// TestSortLikeSort compares the output with the output of LC_ALL=C sort. There are two input
// files. The first one begins with a byte order mark, and the last one does not end with an LF.
func TestSortLikeSort(t *testing.T) {
	tool, err := exec.LookPath("sort")
	if err != nil {
		t.Skipf("no sort to compare with: %v", err)
	}
	lines := binaryLines(5000)
	a := mrtest.File(t, "a", "\ufeff"+extest.Text(lines[:2000]))
	b := mrtest.File(t, "b", strings.TrimSuffix(extest.Text(lines[2000:]), "\n"))
	cmd := exec.Command(tool, a, b)
	cmd.Env = []string{"LC_ALL=C"}
	want, err := cmd.Output()
	must.Do(t, err)
	out := filepath.Join(t.TempDir(), "out")
	got := mrtest.Command(t, sort.Program(), "-r", "4", "-totalOrder", "0.1", "10000", "10", a, b, out)
	extest.Equal(t, got, string(want))
	if parts := mrtest.Parts(t, out); len(parts) != 4 || slices.Contains(parts, "") {
		t.Errorf("%d parts, want 4, none of them empty", len(parts))
	}
}

func TestSortRefuses(t *testing.T) {
	for _, c := range []struct {
		reason string
		args   []string
	}{
		{"", nil},
		{"", []string{"in"}},
		{"", []string{"-r", "2", "in"}},
		{`-r: "0"`, []string{"-r", "0", "in", "out"}},
		{`-r: "many"`, []string{"-r", "many", "in", "out"}},
		{"-r: a value is missing", []string{"-r"}},
		{"-totalOrder: three numbers", []string{"-totalOrder", "0.1", "10"}},
		{`-totalOrder: "2" is not a share`, []string{"-totalOrder", "2", "10", "10", "in", "out"}},
		{`-totalOrder: "NaN" is not a share`, []string{"-totalOrder", "NaN", "10", "10", "in", "out"}},
		{`-totalOrder: "-1"`, []string{"-totalOrder", "0.1", "10", "-1", "in", "out"}},
		{"-inFormat: only lines of text", []string{"-inFormat", "KeyValueTextInputFormat", "in", "out"}},
		{"-x: not known", []string{"-x", "in", "out"}},
	} {
		extest.Refused(t, sort.Program(), c.reason, c.args...)
	}
}
