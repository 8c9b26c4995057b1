package rig

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
	"github.com/hammr/hammr/internal/inject"
	"github.com/hammr/hammr/internal/rpc"
)

// HostConfig is a cluster that runs already.
type HostConfig struct {
	// Hosts are its daemons, all started with --drills. Required.
	Hosts []Host
	// Masters are addresses for calls, host:port. Required.
	Masters []string
	// TokenFile has the cluster's secret. Required.
	TokenFile string
	// Shell runs a command, which is added as its last word, on a machine: {host}
	// stands for Host.Shell. Default "ssh {host}".
	Shell []string
}

// hosts are the daemons of such a cluster.
type hosts struct {
	cfg HostConfig
	mu  struct {
		sync.Mutex
		pids map[string]int // as heard last
	}
}

// Attach takes a cluster that runs already, each daemon of which has to answer. Close
// leaves it as it was: what stands still goes on, what is gone is started, and
// nothing fails from inside.
func Attach(ctx context.Context, cfg HostConfig) (*Rig, error) {
	if len(cfg.Shell) == 0 {
		cfg.Shell = []string{"ssh", "{host}"}
	}
	token, err := rpc.ReadToken(cfg.TokenFile)
	if err != nil {
		return nil, err
	}
	r := &Rig{hosts: &hosts{cfg: cfg}, faults: inject.NewClient(token)}
	r.hosts.mu.pids = make(map[string]int)
	r.client, err = remote.New(remote.Config{Config: rpc.Config{Masters: cfg.Masters, Token: token}})
	faults := []error{err}
	for _, h := range cfg.Hosts {
		faults = append(faults, r.meet(ctx, h))
	}
	if err := errors.Join(faults...); err != nil {
		r.faults.Close()
		if r.client != nil {
			err = errors.Join(err, r.client.Close())
		}
		return nil, err
	}
	return r, nil
}

// meetPatience is how long a daemon may take to answer.
const meetPatience = 5 * time.Second

// meet learns a daemon's process.
func (r *Rig) meet(ctx context.Context, h Host) error {
	call, cancel := context.WithTimeout(ctx, meetPatience)
	defer cancel()
	pid, err := r.faults.PID(call, h.Page)
	if err != nil {
		return fmt.Errorf("%s %s: %w", h.Role, h.Name, err)
	}
	r.hosts.mu.Lock()
	defer r.hosts.mu.Unlock()
	r.hosts.mu.pids[h.Name] = pid
	return nil
}

// host is a daemon with its process.
func (s *hosts) host(name string) (h Host, pid int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.cfg.Hosts {
		if h.Name == name {
			return h, s.mu.pids[name], nil
		}
	}
	return h, 0, fmt.Errorf("no daemon %q in the hostfile", name)
}

func (s *hosts) names(role string) (names []string) {
	for _, h := range s.cfg.Hosts {
		if h.Role == role {
			names = append(names, h.Name)
		}
	}
	return names
}

// run runs a command on a daemon's machine.
func (s *hosts) run(ctx context.Context, h Host, command string) error {
	if h.Shell == "" {
		return fmt.Errorf("%s: the hostfile names no shell for its machine; add it behind the address of its page", h.Name)
	}
	words := make([]string, len(s.cfg.Shell))
	for i, word := range s.cfg.Shell {
		words[i] = strings.ReplaceAll(word, "{host}", h.Shell)
	}
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], command)...)
	var stderr bytes.Buffer
	cmd.Stderr, cmd.WaitDelay = &stderr, time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %q: %w: %s", h.Name, command, err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}

// kill ends a daemon as a crash does; one that is gone is no error.
func (s *hosts) kill(ctx context.Context, name string) error {
	h, pid, err := s.host(name)
	if err != nil {
		return err
	}
	return s.run(ctx, h, fmt.Sprintf("kill -KILL %d; while kill -0 %d 2>/dev/null; do sleep 0.02; done", pid, pid))
}

// freeze stops a daemon or has it go on; one that is gone is no error.
func (s *hosts) freeze(ctx context.Context, name string, sig syscall.Signal) error {
	h, pid, err := s.host(name)
	if err != nil {
		return err
	}
	return s.run(ctx, h, fmt.Sprintf("kill -%d %d || true", int(sig), pid))
}

// startHosts starts daemons that do not run, and waits until they answer.
func (r *Rig) startHosts(ctx context.Context, names []string) error {
	var faults []error
	var started []Host
	for _, name := range names {
		h, pid, err := r.hosts.host(name)
		if err == nil && r.meet(ctx, h) == nil {
			continue // it runs
		}
		if err == nil && h.Start == "" {
			err = fmt.Errorf("%s: the hostfile does not say how it is started", name)
		}
		if err == nil {
			// Nobody waits for what the command leaves behind.
			err = r.hosts.run(ctx, h, fmt.Sprintf("kill -0 %d 2>/dev/null || { %s; } </dev/null >/dev/null 2>&1", pid, h.Start))
		}
		if faults = append(faults, err); err == nil {
			started = append(started, h)
		}
	}
	for _, h := range started {
		faults = append(faults, r.awaitHost(ctx, h))
	}
	return errors.Join(faults...)
}

// startPatience is how long a daemon may take until it answers after its start.
const startPatience = 30 * time.Second

// awaitHost waits until a daemon answers.
func (r *Rig) awaitHost(ctx context.Context, h Host) error {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		err := r.meet(ctx, h)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("start of %s: %w", h.Name, err)
		case <-tick.C:
		}
	}
}

// mendHosts leaves every daemon as it was.
func (r *Rig) mendHosts() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var faults []error
	for _, h := range r.hosts.cfg.Hosts {
		if h.Shell != "" {
			faults = append(faults, r.hosts.freeze(ctx, h.Name, syscall.SIGCONT))
		}
		if h.Start != "" {
			faults = append(faults, r.startHosts(ctx, []string{h.Name}))
		}
		if err := r.Clear(ctx, h.Name); !errors.Is(err, ErrNotRunning) {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}
