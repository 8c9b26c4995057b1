package allocation

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/procfs"
	"github.com/hammr/hammr/internal/syncutil"
)

// child is a daemon that this machine runs.
type child struct {
	name    string
	cmd     *exec.Cmd
	stderr  tailWriter
	ending  atomic.Bool   // its end was requested
	exited  chan struct{} // closed when it has ended
	exitErr error         // valid once exited is closed
}

// endTimeout is how long a daemon may take to end after SIGTERM.
const endTimeout = 15 * time.Second

// start starts a daemon and waits until it is ready, if it says when it is. It gets SIGTERM if this process ends.
func (s *server) start(ctx context.Context, q startRequest) (ready daemon.Ready, err error) {
	if q.Ready != "" {
		if err := os.Remove(q.Ready); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return ready, err
		}
	}
	c := &child{name: q.Name, exited: make(chan struct{})}
	c.cmd = exec.Command(s.cfg.Program[0], append(s.cfg.Program[1:len(s.cfg.Program):len(s.cfg.Program)], q.Args...)...)
	c.cmd.Stderr, c.cmd.WaitDelay = &c.stderr, time.Second
	c.cmd.Env = append(os.Environ(), q.Env...)
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	if err := s.cfg.Starter.Start(c.cmd.Start); err != nil {
		return ready, err
	}
	s.daemons = append(s.daemons, c)
	go func() {
		c.exitErr = c.cmd.Wait()
		close(c.exited)
		if !c.ending.Load() {
			s.send(answer{Ended: c.name, Cause: c.causeOfEnd()})
		}
	}()
	if q.Ready == "" {
		return ready, nil
	}
	bounded, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	err = syncutil.Poll(bounded, 20*time.Millisecond, func(context.Context) (bool, error) {
		var err error
		if ready, err = daemon.ReadReady(q.Ready); err == nil || !errors.Is(err, fs.ErrNotExist) {
			return true, err
		}
		select {
		case <-c.exited:
			return false, fmt.Errorf("%s ended: %s", c.name, c.causeOfEnd())
		default:
			return false, nil
		}
	})
	if err != nil {
		if bounded.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%s is not ready after %v", c.name, q.Timeout)
		}
		return ready, errors.Join(err, c.end(context.WithoutCancel(ctx)))
	}
	return ready, nil
}

// causeOfEnd describes how the process has ended, with the end of its output.
func (c *child) causeOfEnd() string {
	text := "exit code 0"
	if c.exitErr != nil {
		text = c.exitErr.Error()
	}
	if tail := c.stderr.String(); tail != "" {
		text += ": " + tail
	}
	return text
}

// stop ends a daemon.
func (s *server) stop(ctx context.Context, name string) error {
	i := slices.IndexFunc(s.daemons, func(c *child) bool { return c.name == name })
	if i < 0 {
		return fmt.Errorf("daemon %s was not started here", name)
	}
	c := s.daemons[i]
	s.daemons = slices.Delete(s.daemons, i, i+1)
	return c.end(ctx)
}

// end ends the process with SIGTERM, and with SIGKILL if it takes too long.
func (c *child) end(ctx context.Context) error {
	c.ending.Store(true)
	alive := func() bool {
		select {
		case <-c.exited:
			return false
		default:
			return true
		}
	}
	return procfs.End(ctx, c.cmd.Process.Pid, alive, syscall.SIGTERM, endTimeout)
}

// tailWriter keeps the end of what is written to it. It is used by one goroutine, and read when
// that has ended.
type tailWriter struct{ text []byte }

// tailBytes is what a tailWriter keeps.
const tailBytes = 4 << 10

// Write implements io.Writer.
func (w *tailWriter) Write(p []byte) (int, error) {
	w.text = append(w.text, p...)
	w.text = w.text[max(0, len(w.text)-tailBytes):]
	return len(p), nil
}

func (w *tailWriter) String() string { return strings.TrimSpace(string(w.text)) }
