package examples

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/grep"
	"github.com/hammr/hammr/examples/internal/extest"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestGrep(t *testing.T) {
	in := mrtest.File(t, "text", "x1 y22 x1\nx3\n\ny22y22 z\n")
	for _, c := range []struct {
		want string
		args []string
	}{
		{"3\ty22\n2\tx1\n1\tx3\n", []string{`[xy]\d+`}},
		{"3\tx\n3\ty\n", []string{`([xy])\d+`, "1"}},
		{"1\tz\n", []string{`x\d|y\d|(z)`, "1"}}, // the other matches have no such group
		{"", []string{"nothing"}},
	} {
		out := filepath.Join(t.TempDir(), "out")
		if got := mrtest.Exec(t, grep.Program(), append([]string{in, out}, c.args...)...); got.Code != mr.ExitDone {
			t.Fatalf("%q: exit code %d\n%s", c.args, got.Code, got.Stderr)
		}
		if got := strings.Join(mrtest.Parts(t, out), ""); got != c.want {
			t.Errorf("%q: got %q, want %q", c.args, got, c.want)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(out), "*")); len(left) != 1 {
			t.Errorf("%q: the output has company: %q", c.args, left)
		}
	}
}

func TestGrepUnderAllVariants(t *testing.T) {
	const regex = `w(\d)\d*`
	lines := extest.Lines(2, 5000)
	counts := make(map[string]int)
	for _, line := range lines {
		for _, match := range regexp.MustCompile(regex).FindAllString(line, -1) {
			counts[match]++
		}
	}
	type entry struct {
		match string
		count int
	}
	var entries []entry
	for match, count := range counts {
		entries = append(entries, entry{match, count})
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.match, b.match))
	})
	var want strings.Builder
	for _, e := range entries {
		fmt.Fprintf(&want, "%d\t%s\n", e.count, e.match)
	}
	in := mrtest.File(t, "lines", extest.Text(lines))
	got := extest.UnderAllVariants(t, grep.Program(), func(out string) []string { return []string{in, out, regex} })
	extest.Equal(t, got, want.String())
}

func TestGrepRefuses(t *testing.T) {
	extest.Refused(t, grep.Program(), "")
	extest.Refused(t, grep.Program(), "", "in", "out")
	extest.Refused(t, grep.Program(), "", "in", "out", "x", "0", "more")
	extest.Refused(t, grep.Program(), "missing closing", "in", "out", "(x")
	extest.Refused(t, grep.Program(), "group 2 of a regular expression with 1 groups", "in", "out", "(x)", "2")
	extest.Refused(t, grep.Program(), `group "one" is not a number`, "in", "out", "(x)", "one")
}

// TestGrepRefusesOutputFirst checks that grep refuses an invalid output before it searches.
func TestGrepRefusesOutputFirst(t *testing.T) {
	in, out := mrtest.File(t, "text", "x"), t.TempDir()
	got := mrtest.Exec(t, grep.Program(), in, out, "x")
	if got.Code != mr.ExitFailed || !strings.Contains(got.Stderr, "already exists") || strings.Contains(got.Stderr, "Running job") {
		t.Errorf("exit code %d\n%s", got.Code, got.Stderr)
	}
}
