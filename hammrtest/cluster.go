package hammrtest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos/rig"
	"github.com/hammr/hammr/internal/testcluster"
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
