package examples

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

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

// TestEveryProgramIsACommand checks that each program has a package and a main, named in
// small letters. It also checks that each such package belongs to a program.
func TestEveryProgramIsACommand(t *testing.T) {
	var names []string
	for _, p := range Programs() {
		names = append(names, strings.ToLower(p.Name))
	}
	for _, pattern := range []string{"*/*.go", "cmd/*/main.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, file := range files {
			found = append(found, filepath.Base(filepath.Dir(file)))
		}
		if found = slices.Compact(found); !slices.Equal(found, names) {
			t.Errorf("%s: %q, want one for each of %q", pattern, found, names)
		}
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
