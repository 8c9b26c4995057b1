package process

import (
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/tasknode"
)

var _ tasknode.Suspender = (*task)(nil)

// Suspend implements tasknode.Suspender. The freezer of cgroup version 2 suspends all
// processes that the task has started. Without a freezer, SIGSTOP suspends the process
// group.
func (t *task) Suspend() error { return t.setSuspended(true) }

// Resume implements tasknode.Suspender.
func (t *task) Resume() error { return t.setSuspended(false) }

func (t *task) setSuspended(suspended bool) error {
	if t.child == nil {
		return os.ErrProcessDone
	}
	return t.child.setSuspended(t, suspended)
}

// setSuspended suspends or resumes the process if it still runs t. The process need not be
// resumed before a kill, because SIGKILL ends a suspended process.
func (c *child) setSuspended(t *task, suspended bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.reaped || c.mu.task != t {
		return os.ErrProcessDone
	}
	if done, err := c.cgroup.setFrozen(suspended); done {
		return err
	}
	signal := unix.SIGCONT
	if suspended {
		signal = unix.SIGSTOP
	}
	if err := unix.Kill(-c.pid, signal); err != nil {
		return fmt.Errorf("process group %d: %w", c.pid, err)
	}
	return nil
}

// setFrozen suspends or resumes all processes of the group by its freezer. done is false if
// the group has no freezer.
func (g *taskCgroup) setFrozen(suspended bool) (done bool, err error) {
	if g == nil || !exists(filepath.Join(g.dir, "cgroup.freeze")) {
		return false, nil
	}
	text := "0"
	if suspended {
		text = "1"
	}
	return true, g.write("cgroup.freeze", text)
}
