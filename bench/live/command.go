package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// endTimeout is how long a command that is told to end may take.
const endTimeout = 30 * time.Second

// command is one that runs until it is told to end.
type command struct {
	cmd    *exec.Cmd
	faults tailBuffer
	ready  chan struct{} // closed at its first line
	gone   chan struct{} // closed when it has ended
	err    error         // why; to be read when gone is closed
}

// begin starts a command and waits until it prints its first line. The kernel
// sends it SIGTERM when this process ends in whatever way, and it gets no Ctrl-C of
// the terminal: it is for this process to end it.
func begin(ctx context.Context, cmd *exec.Cmd) (*command, error) {
	c := &command{cmd: cmd, ready: make(chan struct{}), gone: make(chan struct{})}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
	cmd.Stderr = &c.faults
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go c.parent(out, started)
	if err := <-started; err != nil {
		return nil, err
	}
	select {
	case <-c.ready:
		return c, nil
	case <-c.gone:
		return c.unlessReady()
	case <-ctx.Done():
		return nil, errors.Join(context.Cause(ctx), c.end())
	}
}

// unlessReady is what became of a command that is gone: it may have been ready
// before.
func (c *command) unlessReady() (*command, error) {
	select {
	case <-c.ready:
		return c, nil
	default:
		return nil, fmt.Errorf("%w\n%s", errors.Join(c.err, errors.New("it ended before it was ready")), c.faults.text())
	}
}

// parent starts the command and waits for it. It has a thread to itself: the kernel
// takes the end of the thread that has started a process for that of its parent.
func (c *command) parent(out io.Reader, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.gone)
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	lines := bufio.NewReader(out)
	if _, err := lines.ReadBytes('\n'); err == nil {
		close(c.ready)
	}
	_, err = io.Copy(io.Discard, lines)
	c.err = errors.Join(err, c.cmd.Wait())
}

// end tells the command to end and waits until it has; one that takes too long is
// killed.
func (c *command) end() error {
	select {
	case <-c.gone:
		return fmt.Errorf("%s ended by itself: %w\n%s", c.cmd, c.err, c.faults.text())
	default:
	}
	if err := c.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.gone:
		return nil // interrupted, as it was told
	case <-time.After(endTimeout):
	}
	err := c.cmd.Process.Kill()
	<-c.gone
	return errors.Join(fmt.Errorf("%s had to be killed after %v\n%s", c.cmd, endTimeout, c.faults.text()), err)
}

// tailBuffer keeps the end of what is written to it.
type tailBuffer struct {
	mu struct {
		sync.Mutex
		bytes.Buffer
	}
}

// Write implements io.Writer.
func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const much = 1 << 16
	if b.mu.Len() > much {
		b.mu.Next(b.mu.Len() - much/2)
	}
	return b.mu.Buffer.Write(p)
}

func (b *tailBuffer) text() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return tail(b.mu.String())
}
