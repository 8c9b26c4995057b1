package allocation

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/rpc"
)

// ContinueVariable is the environment variable by which a program continues its jobs; package mr
// has its meaning.
const ContinueVariable = "HAMMR_CONTINUE"

// program is the user's program. It has a process group of its own.
type program struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has ended
	err    error         // valid once exited is closed
}

// startProgram starts the user's program on the cluster. It is killed if this process ends.
func (r *runner) startProgram() (*program, error) {
	p := &program{cmd: exec.Command(r.cfg.Command[0], r.cfg.Command[1:]...), exited: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), rpc.MasterVariable+"="+strings.Join(r.masters, ","), rpc.TokenFileVariable+"="+r.token, ContinueVariable+"="+r.claims())
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = r.cfg.Stdin, r.cfg.Stdout, r.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	p.cmd.WaitDelay = 5 * time.Second
	if err := r.cfg.Starter.Start(p.cmd.Start); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.exited)
	}()
	return p, nil
}

// code returns the exit code of a program that has ended: 1 if a signal has ended it.
func (p *program) code() int {
	var exit *exec.ExitError
	switch {
	case p.err == nil:
		return 0
	case errors.As(p.err, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	return 1
}

// stop stops the program and its children, which then make no further calls.
func (p *program) stop() { p.signal(syscall.SIGSTOP) }

// kill kills the program and its children, and waits for it.
func (p *program) kill() {
	p.signal(syscall.SIGKILL)
	<-p.exited
}

// signal sends a signal to the process group, unless the program has ended.
func (p *program) signal(sig syscall.Signal) {
	select {
	case <-p.exited:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, sig) // it fails only if all have ended
	}
}
