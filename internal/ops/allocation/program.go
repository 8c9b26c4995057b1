package allocation

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/rpc"
)

// ContinueVariable is the environment variable by which a program continues its jobs; package mr
// has its meaning.
const ContinueVariable = "HAMMR_CONTINUE"

// program is the user's program. It has a process group of its own.
type program struct{ *launch.Child }

// startProgram starts the user's program on the cluster. It is killed if this process ends.
func (r *runner) startProgram() (*program, error) {
	cmd := exec.Command(r.cfg.Command[0], r.cfg.Command[1:]...)
	masters := strings.Join(r.cluster.Addresses(), ",")
	cmd.Env = append(os.Environ(), rpc.MasterVariable+"="+masters, rpc.TokenFileVariable+"="+r.token, ContinueVariable+"="+r.claims())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = r.cfg.Stdin, r.cfg.Stdout, r.stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = 5 * time.Second
	c, err := launch.Start(r.cfg.Starter, launch.Daemon{Name: "the program"}, cmd)
	if err != nil {
		return nil, err
	}
	return &program{c}, nil
}

// code returns the exit code of a program that has ended: 1 if a signal has ended it.
func (p *program) code() int {
	var exit *exec.ExitError
	switch {
	case p.ExitErr == nil:
		return 0
	case errors.As(p.ExitErr, &exit) && exit.ExitCode() > 0:
		return exit.ExitCode()
	}
	return 1
}

// stop stops the program and its children, which then make no further calls.
func (p *program) stop() { p.signal(syscall.SIGSTOP) }

// kill kills the program and its children, and waits for it.
func (p *program) kill() {
	p.signal(syscall.SIGKILL)
	<-p.Exited
}

// signal sends a signal to the process group, unless the program has ended.
func (p *program) signal(sig syscall.Signal) {
	if p.Runs() {
		_ = syscall.Kill(-p.PID(), sig) // it fails only if all have ended
	}
}
