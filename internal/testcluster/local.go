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

	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/syncutil"
)

// opened are daemons that a `hammr up` of this machine has started.
type opened struct{ dir string }

// Process implements Daemons.
func (o opened) Process(name string) (localcluster.Process, error) {
	state, err := localcluster.ReadState(o.dir)
	if err != nil {
		return localcluster.Process{}, err
	}
	return processOf(state, name)
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

// Running implements Control.
func (o opened) Running(name string) bool {
	p, err := o.Process(name)
	return err == nil && p.Alive()
}

// Kill implements Control.
func (o opened) Kill(ctx context.Context, name string) error {
	p, err := o.Process(name)
	if err != nil {
		return err
	}
	return kill(ctx, name, p)
}

func kill(ctx context.Context, name string, p localcluster.Process) error {
	if !p.Alive() {
		return nil
	}
	if err := signal(p.PID, syscall.SIGKILL); err != nil {
		return err
	}
	err := syncutil.Poll(ctx, 5*time.Millisecond, func(context.Context) (bool, error) { return !p.Alive(), nil })
	if err != nil {
		return fmt.Errorf("end of %s: %w", name, err)
	}
	return nil
}

// Signal implements Control.
func (o opened) Signal(_ context.Context, name string, sig syscall.Signal) error {
	p, err := o.Process(name)
	if err != nil || !p.Alive() {
		return err
	}
	return signal(p.PID, sig)
}

// Start implements Control. The process that runs `hammr up` owns the daemons.
func (o opened) Start(context.Context, ...string) error {
	return fmt.Errorf("the cluster in %s was started by another process; 'hammr up --dir %[1]s' starts what does not run", o.dir)
}

// Close implements Daemons; the cluster stays.
func (o opened) Close() error { return nil }

// local are daemons that are children of this process.
type local struct {
	dir       string
	tasknodes []string

	mu struct {
		sync.Mutex
		cluster *localcluster.Cluster
		closed  bool
	}
}

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
	for _, n := range cluster.State.Tasknodes {
		l.tasknodes = append(l.tasknodes, n.Name)
	}
	l.mu.cluster = cluster
	return l, nil
}

// Process implements Daemons.
func (l *local) Process(name string) (localcluster.Process, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return processOf(&l.mu.cluster.State, name)
}

// Running implements Control.
func (l *local) Running(name string) bool {
	p, err := l.Process(name)
	return err == nil && p.Alive()
}

// Kill implements Control.
func (l *local) Kill(ctx context.Context, name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := processOf(&l.mu.cluster.State, name)
	if err != nil {
		return err
	}
	return kill(ctx, name, p)
}

// Signal implements Control.
func (l *local) Signal(_ context.Context, name string, sig syscall.Signal) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p, err := processOf(&l.mu.cluster.State, name)
	if err != nil || !p.Alive() {
		return err
	}
	return signal(p.PID, sig)
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
