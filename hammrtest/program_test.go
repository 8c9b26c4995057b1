package hammrtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestBuildFromAnotherModule builds the daemons' program from a module whose go.sum lacks
// the packages that only the program imports. In the gate the Go command only resolves all packages, and prints what it
// would do.
func TestBuildFromAnotherModule(t *testing.T) {
	repository, err := filepath.Abs("..")
	must.Do(t, err)
	dir := t.TempDir()
	module := fmt.Sprintf("module example.com/tester\n\ngo 1.26.0\n\nrequire github.com/hammr/hammr v0.0.0\n\nreplace github.com/hammr/hammr => %s\n", repository)
	must.Do(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o644))
	t.Chdir(dir)
	file := filepath.Join(dir, "hammr")
	flags := testlevel.Choose([]string{"-n"}, nil)
	must.Do(t, build(file, flags...))
	if len(flags) > 0 {
		return
	}
	if out, err := exec.Command(file, "version").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
