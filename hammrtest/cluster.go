package hammrtest

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/hammr/hammr/chaos/rig"
)

// waitLimit bounds everything that a test waits for.
const waitLimit = 2 * time.Minute

// C is a cluster. It ends with its test.
type C struct {
	t    testing.TB
	rig  *rig.Rig
	outs int // that Output has named
}

// Cluster starts a cluster of so many masters (1, 3 or 5) and tasknodes, each with two map
// slots and one reduce slot, and waits until it is ready. A tasknode that is silent for a
// second is lost. If the test fails, it logs the ends of the daemons' logs.
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

// Environ is added to the environment of a command such as hammr, so that it uses the
// cluster.
func (c *C) Environ() []string { return c.rig.Environ() }

// Dir has the daemons' logs in logs/, and everything else that they write.
func (c *C) Dir() string { return c.rig.Dir() }

// Output is a new directory for a job's output.
func (c *C) Output() string {
	c.outs++
	return filepath.Join(filepath.Dir(c.rig.Dir()), fmt.Sprintf("out%d", c.outs))
}

// noError fails the test with what could not be done.
func (c *C) noError(what string, err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("%s: %v", what, err)
	}
}

// await polls until something is true.
func (c *C) await(what string, so func(ctx context.Context) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), waitLimit)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !so(ctx) {
		select {
		case <-ctx.Done():
			c.t.Fatalf("%s: not so after %v", what, waitLimit)
		case <-tick.C:
		}
	}
}
