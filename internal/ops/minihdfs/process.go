package minihdfs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/procfs"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/netns"
)

// program describes how a daemon is started.
type program struct {
	name      string // of its log file
	logs      string // folder
	java      Java
	class     string
	args      []string
	env       []string // added to this process's
	namespace string   // namespace; "" for this process's
	starter   *procfs.Starter

	// deathSignal is the signal that the daemon gets when this process ends, for any reason; 0
	// is SIGKILL.
	deathSignal syscall.Signal
}

// programIn makes the folders of logs and of temporary files in a directory, and returns the base
// of the programs that use them and the configuration there.
func programIn(dir string, mode fs.FileMode, java Java, starter *procfs.Starter) (program, error) {
	java.Conf, java.Temp = filepath.Join(dir, "conf"), filepath.Join(dir, "tmp")
	p := program{logs: filepath.Join(dir, "logs"), java: java, starter: starter}
	for _, d := range []string{p.logs, java.Temp} {
		if err := os.MkdirAll(d, mode); err != nil {
			return p, fmt.Errorf("minihdfs: %w", err)
		}
	}
	return p, nil
}

// of returns the program of a class with properties, NAME=VALUE, on its command line.
func (p program) of(name, class string, properties ...string) program {
	p.name, p.class, p.args = name, class, nil
	for _, property := range properties {
		p.args = append(p.args, "-D", property)
	}
	return p
}

// daemon is one process of the cluster. It may be started again after its end.
//
//	      start              Kill, or it ends by itself
//	none ───────► running ───────────────────────────► ended ── start ─► running
//
// Kill forgets the process before it waits, so Runs is false during the wait.
type daemon struct {
	program

	mu struct {
		sync.Mutex
		child *launch.Child // nil if it was killed or never started
	}
}

// start starts the process, which must not be running. Its output goes to the end of
// LOGS/NAME.log. The starter's thread lives as long as the cluster, so that the death
// signal does not come early, see procfs.Starter.
func (d *daemon) start() error {
	java, argv, err := d.java.command(d.class, d.args)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(d.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("minihdfs: log of %s: %w", d.name, err)
	}
	defer out.Close()
	cmd := exec.Command(java, argv...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: cmp.Or(d.deathSignal, syscall.SIGKILL)}
	if d.namespace != "" {
		if err := netns.RunIn(cmd, d.namespace); err != nil {
			return fmt.Errorf("minihdfs: start of %s: %w", d.name, err)
		}
	}
	if len(d.env) > 0 {
		cmd.Env = append(os.Environ(), d.env...)
	}
	child, err := launch.Start(d.starter, launch.Daemon{Name: d.name}, cmd)
	if err != nil {
		return fmt.Errorf("minihdfs: %w", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.child = child
	return nil
}

// logPath returns the file with all output of the daemon, of all its starts.
func (p *program) logPath() string { return filepath.Join(p.logs, p.name+".log") }

// process returns the latest process, nil if it was killed or never started.
func (d *daemon) process() *launch.Child {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.child
}

// signal sends a signal to the process.
func (d *daemon) signal(sig syscall.Signal) error {
	child := d.process()
	if child == nil {
		return fmt.Errorf("minihdfs: %s is not running", d.name)
	}
	if err := child.Signal(sig); err != nil {
		return fmt.Errorf("minihdfs: signal to %s: %w", d.name, err)
	}
	return nil
}

// Kill ends the process and returns when it is gone. It ignores a process that has ended or
// never started.
func (d *daemon) Kill() error {
	d.mu.Lock()
	child := d.mu.child
	d.mu.child = nil
	d.mu.Unlock()
	if child == nil {
		return nil
	}
	if err := child.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("minihdfs: end of %s: %w", d.name, err)
	}
	<-child.Exited
	return nil
}

// end ends the process with SIGTERM, and with SIGKILL after a while. A NodeManager needs
// the time to end its containers.
func (d *daemon) end(patience time.Duration) error {
	if child := d.process(); child != nil && child.Signal(syscall.SIGTERM) == nil {
		select {
		case <-child.Exited:
		case <-time.After(patience):
		}
	}
	return d.Kill()
}

// Runs reports whether there is a process, stopped or not.
func (d *daemon) Runs() bool {
	child := d.process()
	return child != nil && child.Runs()
}

// pid returns the id of the process, 0 if it was killed or never started.
func (d *daemon) pid() int {
	if child := d.process(); child != nil {
		return child.PID()
	}
	return 0
}

// exitError describes a daemon that ended by itself, with the end of its log.
func (d *daemon) exitError() error {
	log, _ := os.ReadFile(d.logPath())
	return fmt.Errorf("minihdfs: %s ended by itself, log %s ends in: %s", d.name, d.logPath(), tail(log))
}

// runOnce runs a daemon's class to its end, for example to format a NameNode. The log is
// written only on failure.
func (p *program) runOnce(ctx context.Context, args ...string) error {
	out, err := p.java.Run(ctx, p.class, append(args, p.args...)...)
	if err != nil {
		os.WriteFile(p.logPath(), out, 0o644)
	}
	return err
}
