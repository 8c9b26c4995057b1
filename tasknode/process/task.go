package process

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// task is one child process and the group that it leads.
type task struct {
	cfg     *Config
	attempt string
	binary  string // full name of the program in storage
	path    string // of the program here
	release func() // gives the program back; nil before there is one
	dir     string // of the attempt
	temp    string // for temporary files; goes with the task
	environ []string
	owner   *owner // nil for the daemon's own user
	limit   limit
	group   *group // nil where there are no cgroups

	process        *os.Process
	pid            int // of the process and of its group
	conn           *control
	stdout, stderr stream
	workers        sync.WaitGroup // guard and reap

	gone    chan struct{}
	err     error  // holds once gone is closed, like the following two
	logTail string // last lines of stderr
	dump    string // of all goroutines, where Stack has asked for it

	mu struct {
		sync.Mutex
		reaped  bool // no signal may be sent any more: the number is free
		forced  bool // the daemon has ended it
		starved bool // for its memory
	}
}

// Conn implements tasknode.Task. Closing it ends the task by force.
func (t *task) Conn() io.ReadWriteCloser { return t.conn }

// Gone implements tasknode.Task: neither the process nor any other of its group
// is left, and its logs are complete.
func (t *task) Gone() <-chan struct{} { return t.gone }

// Err implements tasknode.Task.
func (t *task) Err() error { return t.err }

// LogTail is the last lines that the task printed to stderr, "" for none. It
// holds once Gone is closed.
func (t *task) LogTail() string { return t.logTail }

// Times for what takes no time if all is well.
const (
	dumpPatience  = 3 * time.Second // for a dump of goroutines
	drainPatience = time.Second     // for what is left in the pipes, and for the dying
)

// Stack implements tasknode.Task: the task writes where its goroutines stand,
// which ends it.
func (t *task) Stack() string {
	t.force(func() {
		_ = unix.Kill(t.pid, unix.SIGQUIT)
		_ = unix.Kill(t.pid, unix.SIGCONT) // in case it is suspended
	})
	timer := time.NewTimer(dumpPatience)
	defer timer.Stop()
	select {
	case <-t.gone:
	case <-timer.C:
		t.kill()
		<-t.gone
	}
	return t.dump
}

// kill ends all processes of the group.
func (t *task) kill() {
	t.force(func() { _ = unix.Kill(-t.pid, unix.SIGKILL) })
}

// force runs f unless the process is gone.
func (t *task) force(f func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.process != nil && !t.mu.reaped {
		t.mu.forced = true
		f()
	}
}

// starve ends the task for its memory.
func (t *task) starve() {
	t.mu.Lock()
	t.mu.starved = true
	t.mu.Unlock()
	t.kill()
}

// guard ends the task by force some time after ctx.
func (t *task) guard(ctx context.Context) {
	select {
	case <-t.gone:
		return
	case <-ctx.Done():
	}
	timer := time.NewTimer(t.cfg.KillGrace)
	defer timer.Stop()
	select {
	case <-t.gone:
	case <-timer.C:
		t.kill()
	}
}

// reap waits for the end of the process, ends its group, and finds out why it
// ended.
func (t *task) reap(forget func()) {
	var readers sync.WaitGroup
	readers.Go(t.stdout.copy)
	readers.Go(t.stderr.copy)
	awaitExit(t.pid)
	forget()
	state, err := t.collect()
	t.group.kill()
	deadline := time.Now().Add(drainPatience)
	_ = t.stdout.pipe.SetReadDeadline(deadline) // who left the group may have it open for ever
	_ = t.stderr.pipe.SetReadDeadline(deadline)
	readers.Wait()
	awaitGroup(t.pid, deadline)
	if t.err = err; err == nil {
		t.err = t.verdict(state)
	}
	t.cleanUp()
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

// collect ends what is left of the group and collects the process.
func (t *task) collect() (*os.ProcessState, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	_ = unix.Kill(-t.pid, unix.SIGKILL)
	state, err := t.process.Wait()
	t.mu.reaped = true
	return state, err
}

// awaitGroup waits until the processes of a group, which have been killed, are
// gone: large ones take a while to die.
func awaitGroup(group int, deadline time.Time) {
	for pause := time.Millisecond; unix.Kill(-group, 0) == nil && time.Now().Before(deadline); pause *= 2 {
		time.Sleep(pause)
	}
}

// abandon gives back what a task that was not started has taken.
func (t *task) abandon() {
	if t.process != nil { // it was started, and could not be put into its cgroup
		t.kill()
		_, _ = t.collect()
	}
	if t.conn != nil {
		t.conn.Conn.Close()
	}
	t.cleanUp()
}

func (t *task) cleanUp() {
	err := errors.Join(t.stdout.close(), t.stderr.close(), t.group.remove())
	if t.temp != "" {
		err = errors.Join(err, os.RemoveAll(t.temp))
	}
	if err != nil {
		t.cfg.Logger.Warn("after the end of a task", "attempt", t.attempt, "error", err)
	}
	if t.release != nil {
		t.release()
	}
}

// makeDirs makes the place for temporary files, and gives the user who owns the
// task the attempt's directory.
func (t *task) makeDirs() error {
	if err := os.MkdirAll(t.temp, 0o700); err != nil {
		return err
	}
	return errors.Join(t.owner.letThrough(filepath.Dir(t.dir)), t.owner.give(t.dir, t.temp))
}

// openLogs creates the files for what the task prints.
func (t *task) openLogs(dir string, limit int64) (err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if t.stdout.log, err = createLog(filepath.Join(dir, "stdout"), limit); err != nil {
		return err
	}
	t.stderr.log, err = createLog(filepath.Join(dir, "stderr"), limit)
	return err
}
