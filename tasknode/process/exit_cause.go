package process

import (
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/tasknode"
)

// The exit status alone does not show why a process exited. A panic and os.Exit(2) have the
// same status. A process that is killed for its memory has the same status as a process that
// a user killed. The functions below test the causes from the surest to the least sure: the
// daemon's own records, the kernel's counters, the text on stderr, the signal, and last the
// exit status.

// errForced is the error of a task that the daemon has killed.
var errForced = errors.New("process: the tasknode killed the task")

// logTailBytes is how many bytes of stderr a failure shows.
const logTailBytes = 4096

// goExitCode is the exit status of a Go program that panics, or that prints a dump after
// SIGQUIT.
const goExitCode = 2

// exitCause returns why the task's process exited, for Err. It reads the logs. It waits
// until the deadline for the last data that the task sent.
func (t *task) exitCause(state *os.ProcessState, deadline time.Time) error {
	t.logTail = t.stderr.log.tail(logTailBytes)
	status, _ := state.Sys().(syscall.WaitStatus)
	var crash *tasknode.Crash
	if status.Signaled() || status.ExitStatus() == goExitCode {
		printed := t.stderr.log.tail(t.stderr.log.part)
		t.dump = dumpIn(printed)
		crash = crashIn(printed)
	}
	t.child.mu.Lock()
	forced, starved := t.forced, t.outOfMemory
	t.child.mu.Unlock()
	switch {
	case starved || t.child.cgroup.ranOutOfMemory():
		return &tasknode.Crash{Cause: t.limits.exceededText(t.kind)}
	case forced && (status.Signaled() || t.dump != ""):
		return errForced
	case crash != nil:
		return crash
	case status.Signaled():
		return &tasknode.Crash{Cause: signalled(status.Signal())}
	case !t.conn.hasReceived(deadline) && t.child.tasks > 1:
		return &tasknode.Crash{Cause: fmt.Sprintf(
			"the process, which had run other tasks of the job, exited with status %d before it began with this one%s",
			status.ExitStatus(), t.lastLine())}
	case !t.conn.received.Load():
		return &tasknode.Crash{Cause: fmt.Sprintf(
			"program %s ended with exit status %d before it sent anything: its main has to call mr.Main, or mr.ServeTask, before it looks at its arguments%s",
			t.name(), status.ExitStatus(), t.lastLine())}
	case status.ExitStatus() != 0:
		return &tasknode.Crash{Cause: fmt.Sprintf(
			"the program exited with status %d in the middle of its task, as os.Exit and log.Fatal do%s",
			status.ExitStatus(), t.lastLine())}
	}
	return nil
}

// name returns the base name of the program.
func (t *task) name() string { return path.Base(t.binary) }

// lastLine returns the last line on stderr as the end of a sentence, "" if there is none.
func (t *task) lastLine() string {
	lines := strings.Split(strings.TrimSpace(t.logTail), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Sprintf("; its last line of output was %q", last)
	}
	return ""
}

// signalled returns the error text for a process that was ended by a signal from outside the
// daemon. The kernel sends SIGKILL when the machine has no memory left.
func signalled(s syscall.Signal) string {
	cause := fmt.Sprintf("the task was ended by signal %d (%v) from outside", int(s), s)
	if s == syscall.SIGKILL {
		cause += "; the machine may have run out of memory"
	}
	return cause
}
