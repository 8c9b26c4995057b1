package hammrtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/mr"
)

// waitLimit bounds each wait of a test.
const waitLimit = 2 * time.Minute

// C is a running cluster. It is shut down at the end of its test.
type C struct {
	t    testing.TB
	rig  *rig.Rig
	outs int // number of directories that Output has returned
}

// Cluster starts a cluster of 1, 3 or 5 masters and any number of tasknodes, and waits until
// it is ready. Each tasknode has two map slots and one reduce slot. The masters declare a
// tasknode lost after one second without a heartbeat. If the test fails, it logs the last
// lines of the daemons' logs.
func Cluster(t testing.TB, masters, tasknodes int) *C {
	t.Helper()
	if masters < 1 || tasknodes < 1 {
		t.Fatalf("cluster of %d masters and %d tasknodes: expected at least one of each", masters, tasknodes)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	r, err := rig.Start(ctx, rig.Config{
		Dir: filepath.Join(t.TempDir(), "cluster"), Hammr: program(t), Masters: masters, Tasknodes: tasknodes, Network: rig.Isolated(),
	})
	if err != nil {
		t.Fatalf("cluster: %v", err)
	}
	c := &C{t: t, rig: r}
	t.Cleanup(c.close)
	return c
}

func (c *C) close() {
	if err := c.rig.Close(); err != nil {
		c.t.Errorf("end of the cluster: %v", err)
	}
	if left := c.rig.Processes(); len(left) > 0 {
		c.t.Errorf("processes are left: %q", left)
	}
	if c.t.Failed() {
		c.t.Logf("ends of the daemons' logs:\n%s", c.rig.LogEnds(2000))
	}
}

// Environ returns variables for the environment of a command such as hammr. With them the
// command uses this cluster.
func (c *C) Environ() []string { return c.rig.Environ() }

// Dir returns the directory of all files that the daemons write. Their logs are in its
// subdirectory logs.
func (c *C) Dir() string { return c.rig.Dir() }

// Output returns a new directory name for a job's output.
func (c *C) Output() string {
	c.outs++
	return filepath.Join(filepath.Dir(c.rig.Dir()), fmt.Sprintf("out%d", c.outs))
}

// noError fails the test if err is not nil; what describes the operation.
func (c *C) noError(what string, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
}

// await polls a condition until it is true. It fails the test after waitLimit.
func (c *C) await(what string, so func(ctx context.Context) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), waitLimit)
	defer cancel()
	if testcluster.Poll(ctx, func(ctx context.Context) (bool, error) { return so(ctx), nil }) != nil {
		c.t.Fatalf("%s: not so after %v", what, waitLimit)
	}
}

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
