package hammrtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/mr"
)

// ProgramVariable names the environment variable with the path of the daemons' program.
const ProgramVariable = "HAMMR_PROGRAM"

// builtProgram is the daemons' program, built once for all tests of the binary.
var builtProgram struct {
	sync.Once
	dir, file string
	err       error
}

// Main runs the tests of a binary whose jobs run on clusters, and exits. Tasknodes start the
// same binary to run tasks of these programs.
func Main(m *testing.M, programs ...mr.Runnable) {
	mr.ServeTask(programs...)
	if rig.Isolated() {
		if err := rig.EnterIsolation(); err != nil {
			fmt.Fprintln(os.Stderr, "hammrtest:", err)
			os.Exit(1)
		}
	}
	code := m.Run()
	if builtProgram.dir != "" {
		_ = os.RemoveAll(builtProgram.dir) // best effort: it is a temporary directory
	}
	os.Exit(code)
}

// program returns the path of the daemons' program, and builds it if necessary.
func program(t testing.TB) string {
	t.Helper()
	if file := os.Getenv(ProgramVariable); file != "" {
		return file
	}
	builtProgram.Do(func() {
		if builtProgram.dir, builtProgram.err = os.MkdirTemp("", "hammrtest-"); builtProgram.err != nil {
			return
		}
		builtProgram.file = filepath.Join(builtProgram.dir, "hammr")
		builtProgram.err = build(builtProgram.file)
	})
	if builtProgram.err != nil {
		t.Fatalf("no program for the daemons; name one in %s: %v", ProgramVariable, builtProgram.err)
	}
	return builtProgram.file
}

// PlaceProgram writes the daemons' program to file: a copy of the one that HAMMR_PROGRAM names, or else
// one that it builds from the source of this package.
func PlaceProgram(file string) error {
	there := os.Getenv(ProgramVariable)
	if there == "" {
		return build(file)
	}
	content, err := os.ReadFile(there)
	if err != nil {
		return fmt.Errorf("the program that %s names: %w", ProgramVariable, err)
	}
	return os.WriteFile(file, content, 0o755)
}

// build builds the daemons' program in the module of this package, with further flags. The go.sum of
// the tester's module may lack packages that only the program imports.
func build(file string, flags ...string) error {
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/hammr/hammr")
	var errText strings.Builder
	list.Stderr = &errText
	dir, err := list.Output()
	if err != nil {
		return fmt.Errorf("directory of hammr's module: %w\n%s", err, errText.String())
	}
	cmd := exec.Command("go", slices.Concat([]string{"build", "-mod=readonly", "-o", file}, flags, []string{"./cmd/hammr"})...)
	cmd.Dir = strings.TrimSpace(string(dir))
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build of hammr: %w\n%s", err, out)
	}
	return nil
}
