package testcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/localcluster"
)

// processes are daemons of this machine. find returns a copy of the state of a daemon's process at
// that moment. turns is held during each call, so that callers take turns.
type processes struct {
	turns sync.Locker
	find  func(name string) (localcluster.Process, error)
}

// Process implements Daemons.
func (p processes) Process(name string) (localcluster.Process, error) {
	p.turns.Lock()
	defer p.turns.Unlock()
	return p.find(name)
}

// Running implements Control.
func (p processes) Running(name string) bool {
	process, err := p.Process(name)
	return err == nil && process.Alive()
}

// Kill implements Control. It waits until /proc has no process of that start time, so that
// its ports and files are free.
func (p processes) Kill(ctx context.Context, name string) error {
	p.turns.Lock()
	defer p.turns.Unlock()
	process, err := p.find(name)
	if err != nil || !process.Alive() {
		return err
	}
	if err := signal(process.PID, syscall.SIGKILL); err != nil {
		return err
	}
	err = syncutil.Poll(ctx, 5*time.Millisecond, func(context.Context) (bool, error) { return !process.Alive(), nil })
	if err != nil {
		return fmt.Errorf("end of %s: %w", name, err)
	}
	return nil
}

// Signal implements Control.
func (p processes) Signal(_ context.Context, name string, sig syscall.Signal) error {
	p.turns.Lock()
	defer p.turns.Unlock()
	process, err := p.find(name)
	if err != nil || !process.Alive() {
		return err
	}
	return signal(process.PID, sig)
}

func processOf(state *localcluster.State, name string) (localcluster.Process, error) {
	for _, m := range state.Masters {
		if m.ID == name {
			return m.Process, nil
		}
	}
	for _, n := range state.Tasknodes {
		if n.Name == name {
			return n.Process, nil
		}
	}
	return localcluster.Process{}, fmt.Errorf("no daemon %q in the cluster", name)
}

// opened are daemons that a `hammr up` of this machine has started. That process owns them
// and may replace their processes, so the state is read for each call.
type opened struct {
	processes
	dir string
}

func openedIn(dir string) opened {
	return opened{dir: dir, processes: processes{new(sync.Mutex), func(name string) (localcluster.Process, error) {
		state, err := localcluster.ReadState(dir)
		if err != nil {
			return localcluster.Process{}, err
		}
		return processOf(state, name)
	}}}
}

// Start implements Control.
func (o opened) Start(context.Context, ...string) error {
	return fmt.Errorf("the cluster in %s was started by another process; 'hammr up --dir %[1]s' starts what does not run", o.dir)
}

// Close implements Daemons; the cluster stays.
func (o opened) Close() error { return nil }

// local are daemons that are children of this process.
type local struct {
	processes
	dir string

	mu struct { // held during each call of processes, Start and Close
		sync.Mutex
		cluster *localcluster.Cluster
		closed  bool
	}
}

// startLocal starts the daemons, with Config.Environ added before Config.BeforeStart sees
// the command.
func startLocal(ctx context.Context, cfg Config) (*local, error) {
	before := cfg.BeforeStart
	cfg.BeforeStart = func(name, dir string, cmd *exec.Cmd) error {
		if len(cfg.Environ) > 0 {
			cmd.Env = append(cmd.Environ(), cfg.Environ...)
		}
		if before == nil {
			return nil
		}
		return before(name, dir, cmd)
	}
	cluster, err := localcluster.Up(ctx, cfg.Config)
	if err != nil {
		return nil, err
	}
	l := &local{dir: cluster.Dir()}
	l.mu.cluster = cluster
	l.processes = processes{&l.mu, func(name string) (localcluster.Process, error) { return processOf(&l.mu.cluster.State, name) }}
	return l, nil
}

// Start implements Control.
func (l *local) Start(ctx context.Context, names ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		return fmt.Errorf("start of %v: the cluster has ended", names)
	}
	return l.mu.cluster.Start(ctx, names...)
}

// Close implements Daemons. Stopped processes resume first, since they would not react
// to the signal that ends them.
func (l *local) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.closed {
		return nil
	}
	l.mu.closed = true
	var errs []error
	for _, n := range l.mu.cluster.State.Tasknodes {
		for _, pid := range tasksOf(n.Process) {
			_ = syscall.Kill(-pid, syscall.SIGCONT) // it may be gone by now
		}
		errs = append(errs, resume(n.Process))
	}
	for _, m := range l.mu.cluster.State.Masters {
		errs = append(errs, resume(m.Process))
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	return errors.Join(append(errs, l.mu.cluster.Wait(ended, nil))...)
}

// resume continues a daemon that may be stopped, and ignores one that is gone.
func resume(p localcluster.Process) error {
	if !p.Alive() {
		return nil
	}
	return signal(p.PID, syscall.SIGCONT)
}

// signal sends a signal. It ignores a process that is gone.
func signal(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, os.ErrProcessDone) && err != syscall.ESRCH {
		return fmt.Errorf("signal %v to process %d: %w", sig, pid, err)
	}
	return nil
}
