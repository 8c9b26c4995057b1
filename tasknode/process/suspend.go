package process

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/tasknode"
)

var _ tasknode.Suspender = (*task)(nil)

// Suspend implements tasknode.Suspender: the freezer holds all that the task has
// started where there is one (cgroup version 2), else SIGSTOP its process group.
func (t *task) Suspend() error { return t.setSuspended(true) }

// Resume implements tasknode.Suspender.
func (t *task) Resume() error { return t.setSuspended(false) }

func (t *task) setSuspended(still bool) error {
	if t.child == nil {
		return os.ErrProcessDone
	}
	return t.child.setSuspended(t, still)
}

// setSuspended has the process stand still or go on, if it still runs t. Whoever ends it
// need not have it go on before: SIGKILL ends what stands still.
func (c *child) setSuspended(t *task, still bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.reaped || c.mu.task != t {
		return os.ErrProcessDone
	}
	if done, err := c.cgroup.setFrozen(still); done {
		return err
	}
	signal := unix.SIGCONT
	if still {
		signal = unix.SIGSTOP
	}
	if err := unix.Kill(-c.pid, signal); err != nil {
		return fmt.Errorf("process group %d: %w", c.pid, err)
	}
	return nil
}

// setFrozen has all processes of the group stand still or go on. It is false where
// the group has no freezer.
func (g *taskCgroup) setFrozen(still bool) (done bool, err error) {
	if g == nil || !exists(filepath.Join(g.dir, "cgroup.freeze")) {
		return false, nil
	}
	text := "0"
	if still {
		text = "1"
	}
	return true, g.write("cgroup.freeze", text)
}
