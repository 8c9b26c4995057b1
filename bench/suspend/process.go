package suspend

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/kit/procfs"
)

// process is a running task.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// start starts a task in the cage that uses the given number of bytes. The task ends with ctx.
func (c *cage) start(ctx context.Context, bytes int64) (*process, error) {
	command := c.task(bytes)
	p := &process{cmd: exec.CommandContext(ctx, command[0], command[1:]...)}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.group.add(p.cmd.Process.Pid); err != nil {
		p.end()
		return nil, err
	}
	return p, nil
}

// next starts the next step of the task, and returns the time that the task took for it.
// The task measures its own time, so that the pipe and the scheduler add nothing.
func (p *process) next() (time.Duration, error) {
	if _, err := io.WriteString(p.in, "\n"); err != nil {
		return 0, fmt.Errorf("task: %w", err)
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("task: it has ended: %w", err)
	}
	ns, err := strconv.ParseInt(strings.TrimSpace(line), 10, 64)
	return time.Duration(ns), err
}

// stop stops the process, and returns the time until the kernel reports it as stopped. It
// polls without a pause, since the time is in microseconds.
func (p *process) stop() (time.Duration, error) {
	began := time.Now()
	if err := p.cmd.Process.Signal(unix.SIGSTOP); err != nil {
		return 0, err
	}
	for p.field("State") != "T (stopped)" {
		if time.Since(began) > 10*time.Second {
			return 0, fmt.Errorf("process %d does not stop", p.cmd.Process.Pid)
		}
	}
	return time.Since(began), nil
}

func (p *process) resume() error { return p.cmd.Process.Signal(unix.SIGCONT) }

// swapped returns the number of bytes of the process in the swap file.
func (p *process) swapped() int64 {
	kib, err := strconv.ParseInt(strings.TrimSuffix(p.field("VmSwap"), " kB"), 10, 64)
	if err != nil {
		return 0 // a kernel without swap has no such line
	}
	return kib << 10
}

// field returns a field of the process's status in /proc, "" if it has none.
func (p *process) field(name string) string {
	return procfs.Field(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid), name)
}

// end ends the process, which may be stopped.
func (p *process) end() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // which reports the kill
}

// RunTask does the work of a task process: it fills size bytes of memory and prints how many
// ns that took. For each line of input it then touches every page, and prints the ns again.
func RunTask(in io.Reader, out io.Writer, size int) error {
	lines := bufio.NewScanner(in)
	if !lines.Scan() { // the process is in its control group when the first line arrives
		return lines.Err()
	}
	start := time.Now()
	memory, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("memory of %d bytes: %w", size, err)
	}
	fill(memory)
	fmt.Fprintln(out, time.Since(start).Nanoseconds())
	for lines.Scan() {
		start = time.Now()
		touch(memory)
		fmt.Fprintln(out, time.Since(start).Nanoseconds())
	}
	return lines.Err()
}

// fill writes data that the kernel cannot compress. zswap and zram compress
// pages before they are written.
func fill(memory []byte) {
	r := rand.NewChaCha8([32]byte{1})
	for len(memory) > 0 {
		n, _ := r.Read(memory[:min(len(memory), 1<<16)]) // it never fails
		memory = memory[n:]
	}
}

// touch changes each page.
func touch(memory []byte) {
	for at := 0; at < len(memory); at += os.Getpagesize() {
		memory[at]++
	}
}
