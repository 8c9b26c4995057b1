package examples

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestProgramsAreListedInOrder(t *testing.T) {
	var names []string
	for _, p := range Programs() {
		names = append(names, strings.ToLower(p.Name))
		if p.Summary == "" {
			t.Errorf("%s has no summary", p.Name)
		}
	}
	if !slices.IsSorted(names) || len(slices.Compact(slices.Clone(names))) != len(names) {
		t.Errorf("programs are not in order of name, or one is there twice: %q", names)
	}
}

// TestEveryPackageIsAProgram checks that each package of a program is listed: a program is a
// package of its name in small letters.
func TestEveryPackageIsAProgram(t *testing.T) {
	var names []string
	for _, p := range Programs() {
		names = append(names, strings.ToLower(p.Name))
	}
	var found []string
	for _, pattern := range []string{"*/*.go", "benchmarks/*/*.go"} {
		files, err := filepath.Glob(pattern)
		must.Do(t, err)
		for _, file := range files {
			if name := filepath.Base(filepath.Dir(file)); name != "benchmarks" {
				found = append(found, name)
			}
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); !slices.Equal(found, names) {
		t.Errorf("%q, want one for each of %q", found, names)
	}
}

// TestHelp checks that every program prints its help without running a job.
func TestHelp(t *testing.T) {
	for _, p := range Programs() {
		got := mrtest.Exec(t, p, "--help")
		if got.Code != 0 || !strings.HasPrefix(got.Stdout, "Usage: "+p.Name+" ") {
			t.Errorf("%s --help: exit code %d\n%s", p.Name, got.Code, got.Stdout)
		}
	}
}
