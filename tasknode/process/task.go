package process

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// task is one attempt in a process.
type task struct {
	cfg     *Config
	attempt string
	binary  string // full name of the program in storage
	path    string // of the program here
	dir     string // of the attempt
	temp    string // for temporary files of the process that begins with the task
	environ []string
	owner   *owner // nil for the daemon's own user
	limit   memoryLimit

	child          *child // nil until it has one
	conn           *control
	stdout, stderr stream
	readers        sync.WaitGroup // of stdout and stderr
	stopKillTimer  func() bool    // has the end of its context be of no concern

	exited  chan struct{}
	err     error  // holds once gone is closed, like the following two
	logTail string // last lines of stderr
	dump    string // of all goroutines, where Stack has asked for it

	// Guarded by the child's lock.
	forced      bool // the daemon has ended it
	outOfMemory bool // for its memory
}

// Conn implements tasknode.Task. Closing it ends the task by force.
func (t *task) Conn() io.ReadWriteCloser { return t.conn }

// Exited implements tasknode.Task: nothing that the task has started is left, and
// its logs are complete. Its process is gone too, or waits for another task.
func (t *task) Exited() <-chan struct{} { return t.exited }

// Err implements tasknode.Task.
func (t *task) Err() error { return t.err }

// LogTail is the last lines that the task printed to stderr, "" for none. It
// holds once Gone is closed.
func (t *task) LogTail() string { return t.logTail }

// Times for what takes no time if all is well.
const (
	dumpTimeout  = 3 * time.Second // for a dump of goroutines
	drainTimeout = time.Second     // for what is left in the pipes, and for the dying
)

// Stack implements tasknode.Task: the task writes where its goroutines stand,
// which ends it.
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

// kill ends the process with all of its group, if it still runs this task.
func (t *task) kill() {
	t.force(func() { _ = unix.Kill(-t.child.pid, unix.SIGKILL) })
}

// force runs f unless the task is over.
func (t *task) force(f func()) {
	if t.child != nil {
		t.child.force(t, f)
	}
}

// killAfterGrace ends the task by force unless it ends by itself.
func (t *task) killAfterGrace() {
	timer := time.NewTimer(t.cfg.KillGrace)
	defer timer.Stop()
	select {
	case <-t.exited:
	case <-timer.C:
		t.kill()
	}
}

// drain waits until all that was printed is in the logs, and reports whether
// that is so at the deadline: what has left the group may have them open for
// ever.
func (t *task) drain(deadline time.Time) (whole bool) {
	_ = t.stdout.pipe.SetReadDeadline(deadline) // fails for no pipe
	_ = t.stderr.pipe.SetReadDeadline(deadline)
	t.readers.Wait()
	return t.stdout.complete && t.stderr.complete
}

// abandon gives back what a task that was not started has taken.
func (t *task) abandon() {
	t.disconnect()
	t.cleanUp()
}

// cleanUp closes and removes what is not needed after the end of a task.
func (t *task) cleanUp() {
	t.stopKillTimer()
	if err := errors.Join(t.stdout.close(), t.stderr.close()); err != nil {
		t.cfg.Logger.Warn("after the end of a task", "attempt", t.attempt, "error", err)
	}
}

// giveDir gives the user who owns the task the attempt's directory.
func (t *task) giveDir() error {
	return errors.Join(t.owner.allowTraversal(filepath.Dir(t.dir)), t.owner.chown(t.dir))
}

// makeTemp makes the place for temporary files.
func (t *task) makeTemp() error {
	if err := os.MkdirAll(t.temp, 0o700); err != nil {
		return err
	}
	return t.owner.chown(t.temp)
}
