package process

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// task is one attempt that runs in a process, as the daemon sees it. The process is a child,
// which may run other tasks before and after.
//
//	Launch ──► prepare ──► start or assign: child is set ──► runs ──► exited is closed
//	                                        ctx ends: KillGrace later, kill
//	                                        Conn is closed: kill
//	                                        Stack: SIGQUIT, dumpTimeout later kill
//
// An order to end reaches the task as a message first. Force comes only after the
// grace.
type task struct {
	cfg     *Config // configuration of the launcher
	attempt string  // id of the attempt, also the name of its cgroup
	kind    taskproc.Kind
	binary  string   // full name of the program in storage
	path    string   // path of the program on this machine
	dir     string   // directory of the attempt
	temp    string   // directory for temporary files, if the process starts with this task
	environ []string // environment, if the process starts with this task
	owner   *owner   // nil for the daemon's own user
	limits  limits

	child          *child   // nil until the task has a process
	conn           *control // the daemon's end of the control socket; nil before connect
	stdout, stderr stream
	readers        sync.WaitGroup // goroutines that read stdout and stderr
	stopKillTimer  func() bool    // stops the kill that follows the end of the context

	exited  chan struct{}
	err     error  // valid after exited is closed, like the next two fields
	logTail string // last lines of stderr
	dump    string // stacks of all goroutines, if Stack requested them

	// The child's lock guards the fields below.
	forced      bool // the daemon has killed it
	outOfMemory bool // the daemon has killed it because of its memory
}

// Conn implements tasknode.Task. Closing it kills the task.
func (t *task) Conn() io.ReadWriteCloser { return t.conn }

// Exited implements tasknode.Task. When it is closed, all processes that the task started
// have ended, and its logs are complete. The task's process itself has exited or is idle.
func (t *task) Exited() <-chan struct{} { return t.exited }

// Err implements tasknode.Task.
func (t *task) Err() error { return t.err }

// LogTail returns the last lines that the task printed to stderr, "" for none. It is valid
// after Exited is closed.
func (t *task) LogTail() string { return t.logTail }

// Timeouts for steps that normally take no time.
const (
	dumpTimeout  = 3 * time.Second // time limit for a dump of goroutines
	killTimeout  = 5 * time.Second // time limit for the exit of a killed process; later it is taken to hang in the kernel
	drainTimeout = time.Second     // time limit for the rest of the output, and for the exit of killed processes
)

// Stack implements tasknode.Task. The task prints the stacks of its goroutines and ends,
// unless it waits in the kernel and cannot be killed.
func (t *task) Stack() string {
	t.force(func() {
		_ = unix.Kill(t.child.pid, unix.SIGQUIT)
		_ = unix.Kill(t.child.pid, unix.SIGCONT) // the task may be suspended
	})
	timer := time.NewTimer(dumpTimeout)
	defer timer.Stop()
	select {
	case <-t.exited:
	case <-timer.C:
		t.kill()
		timer.Reset(killTimeout)
		select {
		case <-t.exited:
		case <-timer.C:
			return ""
		}
	}
	return t.dump
}

// PID implements tasknode.Process.
func (t *task) PID() int { return t.child.pid }

// kill kills the process and its group, if the process still runs this task.
//
// If the process already runs another task, kill does nothing.
func (t *task) kill() {
	t.force(func() { _ = unix.Kill(-t.child.pid, unix.SIGKILL) })
}

// force calls f unless the task has ended.
func (t *task) force(f func()) {
	if t.child != nil {
		t.child.force(t, f)
	}
}

// killAfterGrace kills the task unless it ends by itself within KillGrace.
func (t *task) killAfterGrace() {
	timer := time.NewTimer(t.cfg.KillGrace)
	defer timer.Stop()
	select {
	case <-t.exited:
	case <-timer.C:
		t.kill()
	}
}

// drain waits until all output is in the logs, but not longer than the deadline. whole
// reports whether all output is in the logs. A process that has left the group may keep the
// pipes open for ever.
func (t *task) drain(deadline time.Time) (whole bool) {
	_ = t.stdout.pipe.SetReadDeadline(deadline) // fails only if there is no pipe
	_ = t.stderr.pipe.SetReadDeadline(deadline)
	t.readers.Wait()
	return t.stdout.complete && t.stderr.complete
}

// abandon releases the resources of a task that was not started.
func (t *task) abandon() {
	t.disconnect()
	t.cleanUp()
}

// cleanUp closes what a task no longer needs after its end.
func (t *task) cleanUp() {
	t.stopKillTimer()
	if err := errors.Join(t.stdout.close(), t.stderr.close()); err != nil {
		t.cfg.Logger.Warn("cleanup after a task failed", "attempt", t.attempt, "error", err)
	}
}

// giveDir makes the owner of the task the owner of the attempt's directory. The directories
// above it, up to the job's, stay the daemon's own.
func (t *task) giveDir() error {
	shard, job := filepath.Dir(t.dir), taskdir.JobDir(t.dir)
	return errors.Join(t.owner.allowTraversal(job), t.owner.allowTraversal(shard), t.owner.chown(t.dir))
}

// makeTemp makes the directory for temporary files.
func (t *task) makeTemp() error {
	if err := os.MkdirAll(t.temp, 0o700); err != nil {
		return err
	}
	return t.owner.chown(t.temp)
}
