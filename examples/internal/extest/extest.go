// Package extest has what the tests of the programs share: input to work on, and the check
// that a program writes the same bytes however its work is divided.
package extest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

// variants are the ways in which the work of a job is divided. The output must not depend on
// them. Small splits make many maps, odd ones cut records anywhere, and a small sort buffer
// makes many runs that are merged. A map spills once it has emitted more than half a MiB, so
// the tests have larger inputs.
var variants = []struct {
	name       string
	properties []string
}{
	{"at default settings", nil},
	{"in small splits", []string{"mapreduce.input.fileinputformat.split.maxsize=20000", "hammr.input.combine=false"}},
	{"in odd splits", []string{"mapreduce.input.fileinputformat.split.maxsize=77777"}},
	{"in many spills", []string{"mapreduce.task.io.sort.mb=1", "mapreduce.map.sort.spill.percent=0.5", "mapreduce.task.io.sort.factor=2"}},
}

// UnderAllVariants runs a program in all ways, with 3 reduces unless it sets another number,
// and returns its output, which must be the same each time. args are its arguments after the
// generic options, given the output directory. A program that is deterministic but depends on
// the division of its work, such as one that sums floats, fails here.
func UnderAllVariants(t *testing.T, p *mr.Program, args func(out string) []string) string {
	t.Helper()
	var first string
	for i, way := range variants {
		out := filepath.Join(t.TempDir(), "out")
		line := []string{"-D", "mapreduce.job.reduces=3"}
		for _, property := range way.properties {
			line = append(line, "-D", property)
		}
		if got := mrtest.Exec(t, p, append(line, args(out)...)...); got.Code != mr.ExitDone {
			t.Fatalf("%s, %s: exit code %d\n%s", p.Name, way.name, got.Code, got.Stderr)
		}
		content := strings.Join(mrtest.Parts(t, out), "")
		if i == 0 {
			first = content
		} else if content != first {
			t.Fatalf("%s, %s: the output differs: %s", p.Name, way.name, difference(content, first))
		}
	}
	return first
}

// difference shows the first line that differs, or else the numbers of lines. Long lines are
// cut, so that a failure can be read.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is %.200q, want %.200q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// Equal fails the test, showing the first line that differs, unless got is want. Whole outputs
// would be too long to show.
func Equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Error(difference(got, want))
	}
}

// Refused expects a usage error: exit code 2, the usage line, and the reason in what is shown.
// An empty reason means that the usage says enough.
func Refused(t *testing.T, p *mr.Program, reason string, args ...string) {
	t.Helper()
	got := mrtest.Exec(t, p, args...)
	if got.Code != mr.ExitUsage || !strings.Contains(got.Stderr, "Usage: "+p.Name+" ") || !strings.Contains(got.Stderr, reason) {
		t.Errorf("%s %q: exit code %d, want %d and %q in\n%s", p.Name, args, got.Code, mr.ExitUsage, reason, got.Stderr)
	}
}

// Lines makes n lines of random words, some more frequent than others, with an
// empty line here and there.
// The same seed gives the same lines.
func Lines(seed uint64, n int) []string {
	random := rand.New(rand.NewPCG(seed, 0))
	zipf := rand.NewZipf(random, 1.2, 4, 500)
	lines := make([]string, n)
	for i := range lines {
		words := make([]string, random.IntN(9))
		for j := range words {
			words[j] = fmt.Sprintf("w%d", zipf.Uint64())
		}
		lines[i] = strings.Join(words, " ")
	}
	return lines
}

// Text is lines as the content of a file, each with an LF.
func Text(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
