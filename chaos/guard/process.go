package guard

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/kit/procfs"
)

// process is a process that belongs to the directory of a guard.
type process struct {
	procfs.Process
	words []string   // its command line
	role  chaos.Role // "" for processes that a daemon has started, and for daemons of no known role
	first bool       // no process of the directory has started it
}

// processes returns what runs below the directory: the daemons, which name it on their command line,
// and all that they have started. The order is that of /proc. A shell or an editor that a person
// uses there does not count, nor does a guard.
func (g Guard) processes() []process {
	all := procfs.All()
	found := make(map[int]process)
	for _, p := range all {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.PID)) // it may have ended
		words := strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
		if role, ours := g.roleOf(p.PID, words); ours && p.Started != "" {
			found[p.PID] = process{Process: p, words: words, role: role, first: true}
		}
	}
	for grown := true; grown; { // parents may come behind their children
		grown = false
		for _, p := range all {
			own, known := found[p.PID]
			if _, child := found[p.Parent]; child && p.Started != "" && (!known || own.first) {
				own.Process, own.first, grown = p, false, true
				found[p.PID] = own
			}
		}
	}
	var list []process
	for _, p := range all {
		if own, ok := found[p.PID]; ok {
			list = append(list, own)
		}
	}
	return list
}

// roleOf returns the role of a daemon of the directory. A daemon of Hammr has its settings on its
// command line, a Java program of Hadoop the directory, and its class is its last word or one of
// the last.
func (g Guard) roleOf(pid int, words []string) (role chaos.Role, ours bool) {
	if len(words) > 2 && words[1] == "chaos" {
		return "", false
	}
	exe, _ := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)) // of other users it is not readable
	ours = strings.HasPrefix(exe, g.Dir+"/") || filepath.Base(words[0]) == "java" && strings.Contains(strings.Join(words, " "), g.Dir+"/")
	for _, r := range []chaos.Role{chaos.Jobmaster, chaos.Tasknode} {
		if slices.Contains(words, filepath.Join(g.Dir, string(r)+".yaml")) {
			return r, true
		}
	}
	for r, class := range map[chaos.Role]string{chaos.NameNode: ".NameNode", chaos.DataNode: ".DataNode"} {
		if ours && slices.ContainsFunc(words, func(w string) bool { return strings.HasSuffix(w, class) }) {
			return r, true
		}
	}
	return "", ours
}

// targets returns the processes that a fault hits: a daemon of a role, everything of the machine, or
// one process of a task, chosen at random, with what it has started.
func (g Guard) targets(role chaos.Role) (list []process, err error) {
	all := g.processes()
	for _, p := range all {
		if p.role == role || role == chaos.Machine {
			list = append(list, p)
		}
	}
	if role == chaos.Task {
		var tasks []process
		for _, p := range all {
			if slices.ContainsFunc(all, func(parent process) bool { return parent.PID == p.Parent && parent.role == chaos.Tasknode }) {
				tasks = append(tasks, p)
			}
		}
		if len(tasks) > 0 {
			task := tasks[rand.IntN(len(tasks))]
			list = slices.DeleteFunc(all, func(p process) bool { return p.Group != task.Group })
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: no %s runs below %s", chaos.ErrNoTarget, role, g.Dir)
	}
	return list, nil
}

// Command starts a daemon again that was killed.
type Command struct {
	Program string
	Words   []string // its command line
	Environ []string
	Dir     string // its working directory
	Output  string // file of its standard output and error
	PIDFile string // file that names its process; "" for none
}

// commandOf returns the command that starts a running daemon again.
func (g Guard) commandOf(p process) (c Command, err error) {
	proc := fmt.Sprintf("/proc/%d/", p.PID)
	if group, _ := os.ReadFile(proc + "cgroup"); strings.Contains(string(group), "/hammr-"+string(p.role)+".service") {
		return c, fmt.Errorf("the %s is a unit of systemd, which starts it again itself; use 'systemctl kill'", p.role)
	}
	environ, err := os.ReadFile(proc + "environ")
	program, err1 := os.Readlink(proc + "exe")
	dir, err2 := os.Readlink(proc + "cwd")
	output, err3 := os.Readlink(proc + "fd/1")
	if err := errors.Join(err, err1, err2, err3); err != nil {
		return c, err
	}
	c = Command{
		Program: strings.TrimSuffix(program, " (deleted)"), Words: p.words, Dir: dir, Output: output,
		Environ: strings.Split(strings.TrimSuffix(string(environ), "\x00"), "\x00"),
	}
	files, _ := filepath.Glob(filepath.Join(g.Dir, "*.pid")) // the pattern is valid
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.TrimSpace(string(text)) == fmt.Sprint(p.PID) {
			c.PIDFile = file
		}
	}
	return c, nil
}

// start starts the daemon in a session of its own, unless another command has done so.
func (c Command) start(running []process) error {
	if slices.ContainsFunc(running, func(p process) bool { return slices.Equal(p.words, c.Words) }) {
		return nil
	}
	output, err := os.OpenFile(c.Output, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil { // it was a pipe
		if output, err = os.OpenFile(os.DevNull, os.O_WRONLY, 0); err != nil {
			return err
		}
	}
	defer output.Close()
	cmd := &exec.Cmd{
		Path: c.Program, Args: c.Words, Env: c.Environ, Dir: c.Dir, Stdout: output, Stderr: output,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	if ready, isNamed := strings.CutSuffix(c.PIDFile, ".pid"); isNamed {
		_ = os.Remove(ready + ".ready") // it is of the process that was killed; other programs have none
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	if c.PIDFile != "" {
		err = os.WriteFile(c.PIDFile, fmt.Appendln(nil, cmd.Process.Pid), 0o644)
	}
	return errors.Join(err, cmd.Process.Release())
}

// signalAll sends a signal to processes that still run. SIGKILL is waited for.
func signalAll(ctx context.Context, list []procfs.Process, sig syscall.Signal) error {
	var errs []error
	for _, p := range list {
		alive := func() bool { return procfs.StartTime(p.PID) == p.Started }
		switch {
		case sig == syscall.SIGKILL:
			errs = append(errs, procfs.End(ctx, p.PID, alive, sig, 10*time.Second))
		case alive():
			if err := syscall.Kill(p.PID, sig); err != syscall.ESRCH {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
