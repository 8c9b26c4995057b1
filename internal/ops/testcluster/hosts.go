package testcluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/conf/hostfile"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/faultrpc"
)

// HostConfig is a running cluster whose daemons are named in a hostfile. Another program,
// such as systemd, owns them.
type HostConfig struct {
	// Hosts are its daemons, all started with --drills. Required.
	Hosts []hostfile.Daemon
	// Masters are addresses for calls, host:port. Required.
	Masters []string
	// TokenFile has the cluster's secret. Required.
	TokenFile string
	// Shell runs a command, which is added as its last word, on a machine: {host}
	// stands for Daemon.Shell. Default hostfile.DefaultShell.
	Shell []string
	// Hammr is the file of the program for commands. Default "": the cluster has no Program.
	Hammr string
	// Owned says that the caller ends the daemons, so that Close repairs nothing.
	Owned bool
	// Run runs a command on the machine of a daemon, instead of Shell. Any goroutine may call it.
	// Required for the guards of machines (package chaos/guard). Default nil.
	Run func(ctx context.Context, daemon, command string) (stdout string, err error)
	// HDFS is the name of the cluster's own HDFS. Default "": it has none.
	HDFS string
}

// Names returns the names of the cluster's masters and tasknodes.
func (c *HostConfig) Names() (masters, tasknodes []string) {
	for _, h := range c.Hosts {
		if h.Role == hostfile.Jobmaster {
			masters = append(masters, h.Name)
		} else {
			tasknodes = append(tasknodes, h.Name)
		}
	}
	return masters, tasknodes
}

// Time limits on other machines.
const (
	firstAnswerTimeout = 5 * time.Second        // of a daemon that has to run
	pidTimeout         = 700 * time.Millisecond // of a daemon that may be stopped, which answers nothing
	startTimeout       = 30 * time.Second       // from a daemon's start to its first answer
	repairTimeout      = time.Minute            // of all daemons
	repairsAtOnce      = 16
)

// hosts are daemons on other machines. Each answers at the address of its page.
//
// A daemon itself reports its process id, so a pid is known as long as the daemon has
// answered once since its start. Signals travel as shell commands:
//
//	page (HTTP, token)   PID, faults inside
//	shell (ssh)          kill -SIGNAL PID, the command that starts the daemon
type hosts struct {
	cfg   HostConfig
	calls *faultrpc.Client

	mu struct {
		sync.Mutex
		pids map[string]int // the latest known, by daemon
	}
}

// Attach finds a running cluster; each of its daemons must answer. Close repairs the
// cluster: it resumes stopped daemons, starts those that are gone and ends all faults
// inside.
//
// A daemon that does not answer is an error, since the cause may be a wrong line of the
// hostfile. The error names all such daemons.
func Attach(ctx context.Context, cfg HostConfig) (*Cluster, error) {
	if len(cfg.Shell) == 0 {
		cfg.Shell = strings.Fields(hostfile.DefaultShell)
	}
	c := &Cluster{hammr: cfg.Hammr, addresses: cfg.Masters, tokenFile: cfg.TokenFile}
	token, err := c.Token()
	if err != nil {
		return nil, err
	}
	h := &hosts{cfg: cfg, calls: faultrpc.NewClient(token)}
	h.mu.pids = make(map[string]int)
	c.Daemons = h
	c.masters, c.tasknodes = cfg.Names()
	c.client, err = remote.New(remote.Config{Config: rpc.Config{Masters: cfg.Masters, Token: token}})
	errs := []error{err}
	for _, host := range cfg.Hosts {
		call, cancel := context.WithTimeout(ctx, firstAnswerTimeout)
		errs = append(errs, h.refreshPID(call, host))
		cancel()
	}
	if err := errors.Join(errs...); err != nil {
		h.calls.Close()
		if c.client != nil {
			err = errors.Join(err, c.client.Close())
		}
		return nil, err
	}
	return c, nil
}

// refreshPID asks a daemon for its process.
func (s *hosts) refreshPID(ctx context.Context, h hostfile.Daemon) error {
	pid, err := s.calls.PID(ctx, h.Page)
	if err != nil {
		return fmt.Errorf("%s %s: %w", h.Role, h.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.pids[h.Name] = pid
	return nil
}

// host returns a daemon with its latest known process.
func (s *hosts) host(name string) (h hostfile.Daemon, pid int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.cfg.Hosts {
		if h.Name == name {
			return h, s.mu.pids[name], nil
		}
	}
	return h, 0, fmt.Errorf("no daemon %q in the hostfile", name)
}

// current returns a daemon with its present process, which others may have restarted. pid is 0
// if nothing listens at its page. A daemon that is suspended does not answer; its latest
// known pid is returned then.
func (s *hosts) current(ctx context.Context, name string) (h hostfile.Daemon, pid int, err error) {
	if h, _, err = s.host(name); err != nil {
		return h, 0, err
	}
	call, cancel := context.WithTimeout(ctx, pidTimeout)
	defer cancel()
	if err := s.refreshPID(call, h); errors.Is(err, syscall.ECONNREFUSED) {
		return h, 0, nil
	}
	return s.host(name)
}

// Process implements Daemons. The process is of another machine, so Alive is false.
func (s *hosts) Process(name string) (localcluster.Process, error) {
	h, pid, err := s.host(name)
	return localcluster.Process{HTTP: h.Page, PID: pid}, err
}

// Running implements Control. It is true, since only the machine itself knows.
func (s *hosts) Running(string) bool { return true }

// Kill implements Control. The command returns when the process is gone, so no further call
// has to wait for that.
func (s *hosts) Kill(ctx context.Context, name string) error {
	h, pid, err := s.current(ctx, name)
	if err != nil || pid == 0 {
		return err
	}
	return s.run(ctx, h, signalCommand(syscall.SIGKILL, pid)+" && while "+runsCommand(pid)+"; do sleep 0.02; done")
}

// Signal implements Control. A stopped daemon does not answer, so SIGCONT goes to its
// latest known process.
func (s *hosts) Signal(ctx context.Context, name string, sig syscall.Signal) error {
	find := s.current
	if sig == syscall.SIGCONT {
		find = func(_ context.Context, name string) (hostfile.Daemon, int, error) { return s.host(name) }
	}
	h, pid, err := find(ctx, name)
	if err != nil || pid == 0 {
		return err
	}
	return s.run(ctx, h, signalCommand(sig, pid))
}

// Start implements Control. A daemon whose process runs and does not answer yet is not
// started a second time.
func (s *hosts) Start(ctx context.Context, names ...string) error {
	var errs []error
	var started []hostfile.Daemon
	for _, name := range names {
		h, pid, err := s.host(name)
		if err == nil && s.refreshPID(ctx, h) == nil {
			continue // it runs
		}
		if err == nil && h.Start == "" {
			err = fmt.Errorf("%s: the hostfile does not say how it is started", name)
		}
		if err == nil {
			// The shell does not wait for what the command leaves in the background.
			err = s.run(ctx, h, fmt.Sprintf("%s || { %s\n} </dev/null >/dev/null 2>&1", runsCommand(pid), h.Start))
		}
		if errs = append(errs, err); err == nil {
			started = append(started, h)
		}
	}
	for _, h := range started {
		errs = append(errs, s.awaitAnswer(ctx, h))
	}
	return errors.Join(errs...)
}

// awaitAnswer waits until a daemon that was started answers.
func (s *hosts) awaitAnswer(ctx context.Context, h hostfile.Daemon) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var last error
	err := syncutil.Poll(ctx, pollInterval, func(ctx context.Context) (bool, error) {
		last = s.refreshPID(ctx, h)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("start of %s: %w", h.Name, errors.Join(err, last))
	}
	return nil
}

// Close implements Daemons.
func (s *hosts) Close() error {
	defer s.calls.Close()
	if s.cfg.Owned {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), repairTimeout)
	defer cancel()
	return syncutil.Each(s.cfg.Hosts, repairsAtOnce, func(h hostfile.Daemon) error { return s.repair(ctx, h) })
}

// repair ends what drills have done to one daemon. The order matters: a suspended daemon
// cannot answer the call that ends faults.
func (s *hosts) repair(ctx context.Context, h hostfile.Daemon) error {
	var errs []error
	if h.Shell != "" {
		errs = append(errs, s.Signal(ctx, h.Name, syscall.SIGCONT))
	}
	if h.Start != "" {
		errs = append(errs, s.Start(ctx, h.Name))
	}
	if err := s.calls.Clear(ctx, h.Page); err != nil && !errors.Is(err, syscall.ECONNREFUSED) {
		errs = append(errs, fmt.Errorf("%s: %w", h.Name, err))
	}
	return errors.Join(errs...)
}

// commandTimeout is how long a command on a machine may take.
const commandTimeout = 30 * time.Second

// run runs a command on a daemon's machine. The command is one word for the shell program,
// as ssh expects it.
func (s *hosts) run(ctx context.Context, h hostfile.Daemon, command string) error {
	if h.Shell == "" {
		return fmt.Errorf("%s: the hostfile names no shell for its machine; add it after the address of its page", h.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	if s.cfg.Run != nil {
		_, err := s.cfg.Run(ctx, h.Name, command)
		return err
	}
	words := hostfile.ShellWords(s.cfg.Shell, h.Shell)
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], command)...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %q: %w: %s", h.Name, command, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// runsCommand succeeds if a process runs. A zombie does not.
func runsCommand(pid int) string { return fmt.Sprintf("grep -qs '^State:.[^ZX]' /proc/%d/status", pid) }

// signalCommand sends a signal. It fails if that is not allowed, but not if the process
// is gone.
func signalCommand(sig syscall.Signal, pid int) string {
	return fmt.Sprintf("{ kill -%d %d || [ ! -e /proc/%d ]; }", int(sig), pid, pid)
}
