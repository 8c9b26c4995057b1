package launch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/kit/syncutil"
)

// Child is a daemon that this process has started.
//
//	Start ─► running ── ready file ─► ready ── ends ─► Exited closed, ExitErr set
//	            └────────── ends before ──────────────►
type Child struct {
	Daemon
	// Exited is closed when the process has ended.
	Exited chan struct{}
	// ExitErr is the error of exec.Cmd.Wait. Valid once Exited is closed.
	ExitErr error

	cmd       *exec.Cmd
	logOffset int64 // length of the log before the start
}

// Start starts a daemon by a command, and does not wait until it is ready. Its log grows; other
// output is kept only until the next start. A daemon without a log has the output of the command.
//
// It first removes the ready file of an earlier process, which AwaitReady would take for the
// file of the new one.
func Start(starter *procfs.Starter, d Daemon, cmd *exec.Cmd) (*Child, error) {
	c := &Child{Daemon: d, Exited: make(chan struct{}), cmd: cmd}
	if d.ReadyFile != "" {
		if err := os.Remove(d.ReadyFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", d.Name, err)
		}
	}
	if d.LogFile != "" {
		output, err := os.OpenFile(d.outputFile(), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o644)
		if err != nil {
			return nil, fmt.Errorf("output of %s: %w", d.Name, err)
		}
		defer output.Close()
		cmd.Stdout, cmd.Stderr = output, output
		if info, err := os.Stat(d.LogFile); err == nil {
			c.logOffset = info.Size()
		}
	}
	if err := starter.Start(cmd.Start); err != nil {
		return nil, fmt.Errorf("start of %s: %w", d.Name, err)
	}
	go func() {
		c.ExitErr = cmd.Wait()
		close(c.Exited)
	}()
	return c, nil
}

// Attributes returns the attributes of a process that a Ctrl-C in this process's terminal does
// not reach. If it must not outlive this process, it gets SIGTERM when this process ends, for
// any reason.
func Attributes(outlive bool) *syscall.SysProcAttr {
	if outlive {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// PID returns the id of the process.
func (c *Child) PID() int { return c.cmd.Process.Pid }

// Signal sends a signal to the process, as os.Process.Signal does.
func (c *Child) Signal(sig os.Signal) error { return c.cmd.Process.Signal(sig) }

// Runs reports whether the process has not ended.
func (c *Child) Runs() bool {
	select {
	case <-c.Exited:
		return false
	default:
		return true
	}
}

// AwaitReady waits until the daemon has written its ready file. It returns early if the daemon
// has ended. The errors quote the daemon's log and its other output.
func (c *Child) AwaitReady(ctx context.Context) (ready daemon.Ready, err error) {
	err = syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) {
		var err error
		if ready, err = daemon.ReadReady(c.ReadyFile); err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("%s: %w", c.Name, err)
		}
		if !c.Runs() {
			return false, fmt.Errorf("%s ended: %s", c.Name, c.CauseOfEnd())
		}
		return false, nil
	})
	if err != nil && ctx.Err() != nil {
		err = fmt.Errorf("%s is not ready: %w%s", c.Name, context.Cause(ctx), c.excerpt())
	}
	return ready, err
}

// ExitText describes how the process has ended. It is called once Exited is closed.
func (c *Child) ExitText() string {
	if c.ExitErr == nil {
		return "exit code 0"
	}
	return c.ExitErr.Error()
}

// CauseOfEnd is ExitText with an excerpt of the log.
func (c *Child) CauseOfEnd() string { return c.ExitText() + c.excerpt() }

// excerpt returns the end of what the daemon has written since its start.
func (c *Child) excerpt() string {
	if c.LogFile == "" {
		return ""
	}
	words := fmt.Sprintf("; the end of its log, %s:\n%s", c.LogFile, tail(c.LogFile, c.logOffset))
	if info, err := os.Stat(c.outputFile()); err == nil && info.Size() > 0 {
		words += fmt.Sprintf("\nand of its other output, %s:\n%s", c.outputFile(), tail(c.outputFile(), 0))
	}
	return words
}

// End ends the process with SIGTERM, and with SIGKILL if it takes longer than a time.
func (c *Child) End(ctx context.Context, patience time.Duration) error {
	return procfs.End(ctx, c.PID(), c.Runs, syscall.SIGTERM, patience)
}
