package process

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/taskproc"
)

// processClass is what the tasks have in common that one process may run: only a task
// of the same class takes the place of another.
type processClass struct {
	job     string
	program string // file of the program; its name is its hash
	user    string // whose rights it has
	bytes   int64  // of memory that it may use
}

// child is a process and the group that it leads. It runs one task at a time.
type child struct {
	cfg      *Config
	class    processClass
	release  func()      // gives the program back
	temp     string      // for temporary files; empty when it begins a task, and goes with it
	cgroup   *taskCgroup // nil where there are no cgroups
	process  *os.Process
	pid      int                // of the process and of its group
	handover *taskproc.Handover // nil when it runs one task only
	unwatch  func()             // has its memory be looked at no more
	exited   chan struct{}      // closed when neither it nor its group is left

	tasksLeft int         // how many tasks it may still begin, negative for any number
	tasks     int         // how many it has begun
	timer     *time.Timer // ends it when it has waited for too long; nil unless it waits

	mu struct {
		sync.Mutex
		task   *task // that it runs, nil while it waits for another
		ending bool  // it is being killed
		reaped bool  // no signal may be sent any more: the number is free
	}
}

// assign gives a process that waits another task. It is false when the process
// is not there any more.
func (c *child) assign(t *task, w *childFiles) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.ending || c.mu.reaped || c.handover.Assign(w.control, w.stdout, w.stderr) != nil {
		return false
	}
	c.mu.task, t.child = t, c
	c.tasks++
	c.tasksLeft--
	return true
}

// detachTask is the task that a process has run, when it says that it is over; nil if
// the process is about to be ended.
func (c *child) detachTask() (t *task) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t = c.mu.task
	if t == nil || t.forced || c.mu.ending {
		return nil
	}
	c.mu.task = nil
	return t
}

// isReusable reports whether a process that waits may run another task. One that
// has kept much memory may not: it would leave the next task little.
func (c *child) isReusable() bool {
	return c.tasksLeft != 0 && residentOf(c.pid) <= c.class.bytes/2 && empty(c.temp) == nil
}

// empty removes what is in a directory.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// kill ends all processes of the group.
func (c *child) kill() {
	c.force(nil, func() {
		c.mu.ending = true
		_ = unix.Kill(-c.pid, unix.SIGKILL)
	})
}

// force runs f unless the process is gone, or runs another task than t; nil is
// any.
func (c *child) force(t *task, f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.reaped || t != nil && c.mu.task != t {
		return
	}
	if c.mu.task != nil {
		c.mu.task.forced = true
	}
	f()
}

// killForMemory ends the process for its memory.
func (c *child) killForMemory() {
	c.mu.Lock()
	if c.mu.task != nil {
		c.mu.task.outOfMemory = true
	}
	c.mu.Unlock()
	c.kill()
}

// reap waits for the end of the process, ends its group, and finds out why the
// task has ended that it ran, if it did.
func (c *child) reap() (last *task) {
	awaitExit(c.pid)
	c.unwatch()
	last, state, err := c.collect()
	c.cgroup.kill()
	deadline := time.Now().Add(drainTimeout)
	if last != nil {
		last.drain(deadline)
	}
	awaitGroup(c.pid, deadline)
	if last != nil {
		if last.err = err; err == nil {
			last.err = last.exitCause(state)
		}
	}
	c.cleanUp()
	close(c.exited)
	return last
}

// awaitExit waits for the end of a child but does not collect it, so that its
// number, which is that of its group, stays taken.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// collect ends what is left of the group and collects the process. From then on
// the process has no task.
func (c *child) collect() (last *task, state *os.ProcessState, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = unix.Kill(-c.pid, unix.SIGKILL)
	state, err = c.process.Wait()
	last, c.mu.task, c.mu.reaped = c.mu.task, nil, true
	return last, state, err
}

// awaitGroup waits until the processes of a group, which have been killed, are
// gone: large ones take a while to die.
func awaitGroup(group int, deadline time.Time) {
	for pause := time.Millisecond; unix.Kill(-group, 0) == nil && time.Now().Before(deadline); pause *= 2 {
		time.Sleep(pause)
	}
}

// cleanUp gives back what a process has taken that is not there (any more).
func (c *child) cleanUp() {
	err := errors.Join(c.cgroup.remove(), os.RemoveAll(c.temp))
	if c.handover != nil {
		err = errors.Join(err, c.handover.Close())
	}
	if err != nil {
		c.cfg.Logger.Warn("after the end of a process", "job", c.class.job, "error", err)
	}
	if c.release != nil {
		c.release()
	}
}
