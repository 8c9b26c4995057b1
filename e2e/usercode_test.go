package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
)

// badLine returns an input of a few lines with "bad" at the offset returned.
func badLine(t *testing.T) (in string, offset int64) {
	t.Helper()
	text := strings.Repeat("good\n", 100)
	return newFile(t, "in", []byte(text+"bad\n"+text)), int64(len(text))
}

// TestProgramThatExits runs a program that ends the process during the job. No file looks
// like a result.
func TestProgramThatExits(t *testing.T) {
	in, _ := badLine(t)
	out := filepath.Join(t.TempDir(), "out")
	startProgram(t, "exits", in, out).waitOnly(t).want(t, 7)
	nothingWhole(t, out)
}

// nothingWhole checks that a local output directory contains nothing that looks like a
// result: no _SUCCESS, and no file without a leading _ or dot.
func nothingWhole(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return
	}
	must.Do(t, err)
	for _, e := range entries {
		if name := e.Name(); name == "_SUCCESS" || name[0] != '_' && name[0] != '.' {
			t.Errorf("%s holds %s", dir, name)
		}
	}
}
