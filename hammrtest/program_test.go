package hammrtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestBuildFromAnotherModule builds the daemons' program from a module whose go.sum lacks
// the packages that only the program imports.
func TestBuildFromAnotherModule(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the daemons' program")
	}
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	module := fmt.Sprintf("module example.com/tester\n\ngo 1.26.0\n\nrequire github.com/hammr/hammr v0.0.0\n\nreplace github.com/hammr/hammr => %s\n", repository)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	file := filepath.Join(dir, "hammr")
	if err := build(file); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(file, "version").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
