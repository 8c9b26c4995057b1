package redteam

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/hammrtest"
)

// Programs of the test, built by TestMain. All users may run them.
var hammr, hostile, bystander string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if reasonToSkip() != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "redteam-programs-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	const module = "github.com/hammr/hammr/"
	hammr, hostile, bystander = filepath.Join(dir, "hammr"), filepath.Join(dir, "hostile"), filepath.Join(dir, "bystander")
	if err := hammrtest.PlaceProgram(hammr); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	build := exec.Command("go", "build", "-ldflags=-w", "-o", dir, module+"e2e/redteam/hostile", module+"e2e/redteam/bystander")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "the programs of the test cannot be built: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}
