package process

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// processClass has the properties that tasks must share if one process runs them one after
// another.
type processClass struct {
	job     string
	program string // file of the program, named by its hash
	user    string // user whose rights the process has
	limits  limits
}

// child is a process and the process group that it leads. It runs one task at a time:
//
//	startProcess ──► running a task ──► idle, waiting for the next ──► running …
//	                      │                  │ idle too long, or evicted
//	                      ▼                  ▼
//	                  exited: reap kills the group and reports the task, if one ran
type child struct {
	cfg     *Config
	class   processClass
	release func()      // releases the program
	temp    string      // directory for temporary files; empty when a task begins, and removed with the process
	cgroup  *taskCgroup // nil if there are no cgroups
	process *os.Process
	pid     int                // id of the process and of its group
	next    *taskproc.NextTask // nil if the process runs only one task
	unwatch func()             // ends the sampling of its memory
	exited  chan struct{}      // closed when the process and its group have ended

	tasksLeft int         // how many more tasks it may begin; negative means any number
	tasks     int         // how many tasks it has begun
	timer     *time.Timer // kills the process when it has been idle too long; nil unless it is idle

	mu struct {
		sync.Mutex
		task   *task // task that it runs; nil while it is idle
		ending bool  // it is being killed
		reaped bool  // its pid may be used again, so no signal may be sent
	}
}

// assign gives an idle process another task. It returns false if the process has exited or
// will exit soon; the caller then starts a new process. The lock prevents a kill between the
// check and the assignment.
func (c *child) assign(t *task, w *childFiles) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.ending || c.mu.reaped || c.next.Assign(w.control, w.stdout, w.stderr) != nil {
		return false
	}
	c.mu.task, t.child = t, c
	c.tasks++
	c.tasksLeft--
	return true
}

// detachTask returns the task whose end the process has reported, and makes the process
// idle. It returns nil if the process will be killed.
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

// isReusable reports whether an idle process may run another task. A process that still uses
// much memory may not, because it would leave little memory for the next task.
func (c *child) isReusable() bool {
	return c.tasksLeft != 0 && residentOf(c.pid) <= c.class.limits.memory/2 && empty(c.temp) == nil
}

// empty removes the content of a directory.
func empty(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
	}
	return err
}

// kill kills all processes of the group.
func (c *child) kill() {
	c.force(nil, func() {
		c.mu.ending = true
		_ = unix.Kill(-c.pid, unix.SIGKILL)
	})
}

// force calls f, unless the process has exited or runs another task than t. If t is nil, the
// task does not matter.
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

// killForMemory kills the process because it exceeds its memory limit. It records this cause
// for the error text of the task.
func (c *child) killForMemory() {
	c.mu.Lock()
	if c.mu.task != nil {
		c.mu.task.outOfMemory = true
	}
	c.mu.Unlock()
	c.kill()
}

// reap collects a process that has exited, kills the rest of its group, and determines why
// its task ended. It returns that task, or nil if the process was idle.
//
// The order matters. The rest of the group is killed before the output is drained, since a
// grandchild may hold the pipes open. The cause is determined afterwards, because that needs
// the complete log.
func (c *child) reap() (last *task) {
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
			last.err = last.exitCause(state, deadline)
		}
	}
	c.cleanUp()
	close(c.exited)
	return last
}

// awaitExit waits for the exit of a child but does not collect the child. So its pid, which
// is also the id of its group, is not used again.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, syscall.EINTR) {
			return
		}
	}
}

// collect kills the rest of the group and collects the process. After that the process has
// no task.
func (c *child) collect() (last *task, state *os.ProcessState, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = unix.Kill(-c.pid, unix.SIGKILL)
	state, err = c.process.Wait()
	last, c.mu.task, c.mu.reaped = c.mu.task, nil, true
	return last, state, err
}

// awaitGroup waits until the killed processes of a group have ended. The kernel needs some
// time to free the memory of a large process.
func awaitGroup(group int, deadline time.Time) {
	for pause := time.Millisecond; unix.Kill(-group, 0) == nil && time.Now().Before(deadline); pause *= 2 {
		time.Sleep(pause)
	}
}

// cleanUp releases the resources of a process that has exited or was never started.
func (c *child) cleanUp() {
	err := errors.Join(c.cgroup.remove(), os.RemoveAll(c.temp))
	if c.next != nil {
		err = errors.Join(err, c.next.Close())
	}
	if err != nil {
		c.cfg.Logger.Warn("cleanup after a process failed", "job", c.class.job, "error", err)
	}
	if c.release != nil {
		c.release()
	}
}
