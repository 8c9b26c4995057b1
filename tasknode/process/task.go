package process

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/taskproc"
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
	cfg     *Config // of the launcher
	attempt string  // id, which names its cgroup
	kind    taskproc.Kind
	binary  string   // full name of the program in storage
	path    string   // of the program on this machine
	dir     string   // of the attempt
	temp    string   // for temporary files of a process that starts with this task
	environ []string // of a process that starts with this task
	owner   *owner   // nil for the daemon's own user
	limits  limits

	child          *child   // nil until it has one
	conn           *control // the daemon's end of the control socket; nil before connect
	stdout, stderr stream
	readers        sync.WaitGroup // goroutines of stdout and stderr
	stopKillTimer  func() bool    // detaches the task from its context

	exited  chan struct{}
	err     error  // valid once exited is closed, like the next two
	logTail string // last lines of stderr
	dump    string // of all goroutines, if Stack requested it

	// Guarded by the child's lock.
	forced      bool // the daemon has killed it
	outOfMemory bool // because of its memory
}

// Conn implements tasknode.Task. Closing it kills the task.
func (t *task) Conn() io.ReadWriteCloser { return t.conn }

// Exited implements tasknode.Task: nothing that the task has started is left, and its logs
// are complete. Its process has exited too, or is idle.
func (t *task) Exited() <-chan struct{} { return t.exited }

// Err implements tasknode.Task.
func (t *task) Err() error { return t.err }

// LogTail returns the last lines that the task printed to stderr, "" for none. It is valid
// once Exited is closed.
func (t *task) LogTail() string { return t.logTail }

// Timeouts for what takes no time normally.
const (
	dumpTimeout  = 3 * time.Second // for a dump of goroutines
	drainTimeout = time.Second     // for the rest of the output, and for the exit of killed processes
)

// Stack implements tasknode.Task. The task prints the stacks of its goroutines and ends.
func (t *task) Stack() string {
	t.force(func() {
		_ = unix.Kill(t.child.pid, unix.SIGQUIT)
		_ = unix.Kill(t.child.pid, unix.SIGCONT) // in case it is suspended
	})
	timer := time.NewTimer(dumpTimeout)
	defer timer.Stop()
	select {
	case <-t.exited:
	case <-timer.C:
		t.kill()
		<-t.exited
	}
	return t.dump
}

// kill kills the process and its group, if it still runs this task.
//
// A process that was given to another task meanwhile is left alone.
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

// drain waits until all output is in the logs, and reports whether that is so at the
// deadline. A process that has left the group may keep the pipes open for ever.
func (t *task) drain(deadline time.Time) (whole bool) {
	_ = t.stdout.pipe.SetReadDeadline(deadline) // an error: there is no pipe
	_ = t.stderr.pipe.SetReadDeadline(deadline)
	t.readers.Wait()
	return t.stdout.complete && t.stderr.complete
}

// abandon releases what a task that was not started has acquired.
func (t *task) abandon() {
	t.disconnect()
	t.cleanUp()
}

// cleanUp closes what is not needed after the end of a task.
func (t *task) cleanUp() {
	t.stopKillTimer()
	if err := errors.Join(t.stdout.close(), t.stderr.close()); err != nil {
		t.cfg.Logger.Warn("cleanup after a task failed", "attempt", t.attempt, "error", err)
	}
}

// giveDir gives the attempt's directory to the owner of the task.
func (t *task) giveDir() error {
	return errors.Join(t.owner.allowTraversal(filepath.Dir(t.dir)), t.owner.chown(t.dir))
}

// makeTemp makes the directory for temporary files.
func (t *task) makeTemp() error {
	if err := os.MkdirAll(t.temp, 0o700); err != nil {
		return err
	}
	return t.owner.chown(t.temp)
}
