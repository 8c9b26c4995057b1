package rig

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/faultrpc"
	"github.com/hammr/hammr/internal/rpc"
)

// DefaultShell is how commands are run on the machines of a cluster that runs already.
// Nothing may ask for passwords.
const DefaultShell = "ssh -o BatchMode=yes {host}"

// HostConfig is a cluster that runs already.
type HostConfig struct {
	// Hosts are its daemons, all started with --drills. Required.
	Hosts []Host
	// Masters are addresses for calls, host:port. Required.
	Masters []string
	// TokenFile has the cluster's secret. Required.
	TokenFile string
	// Shell runs a command, which is added as its last word, on a machine: {host}
	// stands for Host.Shell. Default DefaultShell.
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
		cfg.Shell = strings.Fields(DefaultShell)
	}
	token, err := rpc.ReadToken(cfg.TokenFile)
	if err != nil {
		return nil, err
	}
	r := &Rig{hosts: &hosts{cfg: cfg}, faults: faultrpc.NewClient(token)}
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
