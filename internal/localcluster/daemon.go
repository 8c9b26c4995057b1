package localcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/daemon"
	"github.com/hammr/hammr/internal/netns"
	"github.com/hammr/hammr/internal/procfs"
	"github.com/hammr/hammr/internal/syncutil"
)

// program describes how a daemon is started.
type program struct {
	name string
	args []string
	dir  string // directory of this daemon; it is on the command line
	log  string // file

	namespace string // network namespace; "" for this process's

	beforeStart func(name, dir string, cmd *exec.Cmd) error // Config.BeforeStart; may be nil
}

// stderrFile returns the file with the daemon's output that is not in its log: errors at its
// start, and crashes.
func (p program) stderrFile() string { return strings.TrimSuffix(p.log, ".log") + ".err" }

func (p program) readyFile() string { return filepath.Join(p.dir, "ready.json") }

// child is a daemon that this process has started.
//
//	program ── start ─► child ── ready file ─► ready ── exits ─► exited closed, exitErr set
//	                      └────── exits before ───────────────►
type child struct {
	program
	process   Process
	logOffset int64         // length of the log before the start
	exited    chan struct{} // closed when it has ended
	exitErr   error         // valid once exited is closed
}

// start starts a daemon. Its log grows; other output is kept only until the next start.
//
// It first removes the ready file of an earlier process, which awaitReady would take for the
// file of the new one. start does not wait for the daemon.
func (p program) start(starter *procfs.Starter, detach bool) (*child, error) {
	for _, dir := range []string{p.dir, filepath.Dir(p.log)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
	}
	if err := os.Remove(p.readyFile()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	output, err := os.OpenFile(p.stderrFile(), os.O_CREATE|os.O_TRUNC|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, fmt.Errorf("output of %s: %w", p.name, err)
	}
	defer output.Close()
	c := &child{program: p, exited: make(chan struct{})}
	if info, err := os.Stat(p.log); err == nil {
		c.logOffset = info.Size()
	}
	cmd := exec.Command(p.args[0], append(p.args[1:len(p.args):len(p.args)], "--ready-file", p.readyFile())...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.SysProcAttr = attributes(detach)
	if p.namespace != "" {
		if err := netns.RunIn(cmd, p.namespace); err != nil {
			return nil, fmt.Errorf("start of %s: %w", p.name, err)
		}
	}
	if p.beforeStart != nil {
		if err := p.beforeStart(p.name, p.dir, cmd); err != nil {
			return nil, fmt.Errorf("before the start of %s: %w", p.name, err)
		}
	}
	if err := starter.Start(cmd.Start); err != nil {
		return nil, fmt.Errorf("start of %s: %w", p.name, err)
	}
	c.process = Process{PID: cmd.Process.Pid, Dir: p.dir, Started: procfs.StartTime(cmd.Process.Pid)}
	go func() {
		c.exitErr = cmd.Wait()
		close(c.exited)
	}()
	return c, nil
}

// awaitReady waits until the daemon has written its ready file. It returns early if the
// daemon has ended, with the end of its log.
func (c *child) awaitReady(ctx context.Context) error {
	err := syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) {
		ready, err := daemon.ReadReady(c.readyFile())
		if err == nil {
			c.process.Address, c.process.HTTP = ready.Address, ready.HTTP
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("%s: %w", c.name, err)
		}
		select {
		case <-c.exited:
			return false, c.exitError()
		default:
			return false, nil
		}
	})
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("%s is not ready: %w; %s", c.name, context.Cause(ctx), c.logExcerpt())
	}
	return err
}

// exitError describes a daemon that has ended by itself.
func (c *child) exitError() error {
	return fmt.Errorf("%s ended: %v; %s", c.name, exitText(c.exitErr), c.logExcerpt())
}

// exitText describes how a process has ended. Wait returns it to its caller.
func exitText(end error) string {
	if end == nil {
		return "exit code 0"
	}
	return end.Error()
}

// Limits of what an error quotes of a log.
const (
	tailLines = 10
	tailBytes = 16 << 10
)

// logExcerpt returns the end of the daemon's log since its start. It leaves out lines of
// earlier runs in the same log.
func (c *child) logExcerpt() string {
	words := fmt.Sprintf("the end of its log, %s:\n%s", c.log, tail(c.log, c.logOffset))
	if info, err := os.Stat(c.stderrFile()); err == nil && info.Size() > 0 {
		words += fmt.Sprintf("\nand of its other output, %s:\n%s", c.stderrFile(), tail(c.stderrFile(), 0))
	}
	return words
}

// tail returns the last lines of a file after an offset. A file that is shorter than the offset
// was truncated, and is read from its start.
func tail(name string, from int64) string {
	f, err := os.Open(name)
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	if size, err := f.Seek(0, io.SeekEnd); err == nil {
		if size < from {
			from = 0
		}
		from = max(from, size-tailBytes)
	}
	text, err := io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	return "  " + strings.Join(lines[max(0, len(lines)-tailLines):], "\n  ")
}

// master returns the program of a jobmaster of the layout. The directory of the daemon is on its
// command line, and Process.Alive looks for it there.
func (l *layout) master(cfg Config, m masterLayout) program {
	dir := filepath.Join(cfg.Dir, m.ID)
	args := []string{
		"jobmaster", "--id", m.ID, "--cluster-id", l.ID, "--dir", dir, "--address", m.Address, "--http", m.HTTP,
		"--masters", l.masters(), "--token-file", filepath.Join(cfg.Dir, TokenFile),
		"--staging", "file://" + filepath.Join(cfg.Dir, stagingDir),
	}
	return newProgram(cfg, m.ID, dir, append(args, l.MasterFlags...))
}

// tasknode returns the program of a tasknode of the layout. The kernel chooses its ports;
// masters learn them when it joins. --own-user runs tasks as this user.
func (l *layout) tasknode(cfg Config, n tasknodeLayout) program {
	dir := filepath.Join(cfg.Dir, n.Name)
	anyPort := net.JoinHostPort(n.Host, "0")
	args := []string{
		"tasknode", "--name", n.Name, "--dir", dir, "--local-dir", daemon.EscapeItem(dir), "--address", anyPort, "--http", anyPort,
		"--masters", l.addresses(), "--token-file", filepath.Join(cfg.Dir, TokenFile), "--own-user",
		"--map-slots", strconv.Itoa(n.MapSlots), "--reduce-slots", strconv.Itoa(n.ReduceSlots),
	}
	p := newProgram(cfg, n.Name, dir, append(args, l.TasknodeFlags...))
	p.namespace = n.Namespace
	return p
}

// newProgram returns a program with the settings that both daemons have. It copies the
// slices of the configuration, which belong to the caller.
func newProgram(cfg Config, name, dir string, args []string) program {
	p := program{name: name, dir: dir, log: filepath.Join(cfg.Dir, "logs", name+".log"), beforeStart: cfg.BeforeStart}
	p.args = append(cfg.Program[:len(cfg.Program):len(cfg.Program)], args...)
	p.args = append(p.args, "--log-file", p.log)
	return p
}

// masters returns the list of masters for jobmasters.
func (l *layout) masters() string {
	var list []string
	for _, m := range l.Masters {
		list = append(list, m.ID+"="+m.Address)
	}
	return strings.Join(list, ",")
}

// addresses returns the list of masters for tasknodes.
func (l *layout) addresses() string {
	var list []string
	for _, m := range l.Masters {
		list = append(list, m.Address)
	}
	return strings.Join(list, ",")
}

// attributes returns the attributes of a daemon's process. A Ctrl-C in this process's terminal
// does not reach it. A daemon that must not outlive this process gets SIGTERM when this
// process ends, for any reason.
func attributes(outlive bool) *syscall.SysProcAttr {
	if outlive {
		return &syscall.SysProcAttr{Setsid: true}
	}
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
