// Package extest provides what the tests of the programs share: input, and the check that a
// program writes the same bytes however its work is divided.
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
// them. Small splits make many maps, splits of odd sizes begin within records, and a small sort buffer
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

// UnderAllVariants runs a program once for each variant and returns its output, which must
// be the same each time. It uses 3 reduces unless the program sets another number. args
// returns the arguments after the generic options for an output directory. A program whose
// output depends on the division of its work, such as a sum of floats, fails here.
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

// difference shows the first line that differs. If no line differs, it shows the numbers of
// lines. Long lines are cut, so that a failure can be read.
func difference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("line %d is %.200q, want %.200q", i+1, g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// Equal fails the test unless got is want, and shows the first line that differs. Whole
// outputs would be too long to show.
func Equal(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Error(difference(got, want))
	}
}

// Refused expects a usage error: exit code 2, the usage line, and the reason in the printed
// text. An empty reason means that the usage line suffices.
func Refused(t *testing.T, p *mr.Program, reason string, args ...string) {
	t.Helper()
	got := mrtest.Exec(t, p, args...)
	if got.Code != mr.ExitUsage || !strings.Contains(got.Stderr, "Usage: "+p.Name+" ") || !strings.Contains(got.Stderr, reason) {
		t.Errorf("%s %q: exit code %d, want %d and %q in\n%s", p.Name, args, got.Code, mr.ExitUsage, reason, got.Stderr)
	}
}

// Lines returns n lines of random words. Some words are more frequent than others, and some
// lines are empty. The same seed gives the same lines.
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

// Text returns the content of a file with these lines. Each line ends with an LF.
func Text(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}
