package testcluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/ops/launch"
	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/rpc"
)

// Config describes the cluster that Start starts.
type Config struct {
	// Config places the daemons. Dir is required; Program and Detach are set by Start.
	localcluster.Config
	// Hammr is the file of the daemons' program. Required.
	Hammr string
	// Expiry is the silence after which a tasknode is lost. Default the masters' default.
	Expiry time.Duration
	// Heartbeat is the time between two heartbeats of a tasknode. Default a fifth of
	// Expiry, at least 100 ms and at most 1 s.
	Heartbeat time.Duration
	// Pools are the pools that accept jobs, in addition to the pool default.
	Pools []string
	// Environ is added to the environment of the daemons.
	Environ []string
}

// place fills in the flags that the fields stand for.
func (c *Config) place() {
	c.Program, c.Detach = []string{c.Hammr}, false
	master, tasknode := c.Settings()
	c.MasterFlags, c.TasknodeFlags = append(slices.Clone(c.MasterFlags), master.Flags()...), append(slices.Clone(c.TasknodeFlags), tasknode.Flags()...)
}

// Settings returns the settings of daemons that Expiry, Heartbeat and Pools stand for.
func (c *Config) Settings() (master, tasknode launch.Settings) {
	master, tasknode = make(launch.Settings), make(launch.Settings)
	heartbeat := c.Heartbeat
	if c.Expiry > 0 {
		master["expiry"] = Millis(c.Expiry)
		if heartbeat == 0 {
			heartbeat = min(max(c.Expiry/5, 100*time.Millisecond), time.Second)
		}
	}
	if heartbeat > 0 {
		tasknode["heartbeat"] = Millis(heartbeat)
	}
	if len(c.Pools) > 0 {
		master["pools"] = strings.Join(c.Pools, ",")
	}
	return master, tasknode
}

// Millis returns a duration as the flags of daemons have it, which accept no fractions.
func Millis(d time.Duration) string { return fmt.Sprintf("%dms", d.Milliseconds()) }

// Cluster is a running cluster, as far as its daemons are not broken.
//
// The fields do not change after Start, Open or Attach, so methods need no lock; what
// changes is in Daemons.
type Cluster struct {
	Daemons

	hammr              string
	dir                string // "" if the daemons run on other machines
	masters, tasknodes []string
	addresses          []string // of the masters, for calls
	tokenFile          string
	id                 string // "" if unknown
	client             *remote.Client
	closing            sync.Once
}

// Start starts a cluster and returns when all of it is ready. If that fails, no part of it
// runs. The caller calls Close. Config.Dir must be empty or have an earlier cluster, which is
// then started with its old layout.
func Start(ctx context.Context, cfg Config) (*Cluster, error) {
	cfg.place()
	daemons, err := startLocal(ctx, cfg)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Daemons: daemons, hammr: cfg.Hammr}
	if err := c.connect(daemons.dir, daemons.mu.cluster.State); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Open finds the cluster that `hammr up` has started in a directory. Close leaves it
// running. The error wraps fs.ErrNotExist if no cluster runs there.
func Open(hammr, dir string) (*Cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	state, err := localcluster.ReadState(dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{Daemons: openedIn(dir), hammr: hammr}
	return c, c.connect(dir, *state)
}

// connect makes the client of a cluster of this machine.
func (c *Cluster) connect(dir string, state localcluster.State) (err error) {
	c.dir, c.id, c.tokenFile = dir, state.ID, filepath.Join(dir, localcluster.TokenFile)
	for _, m := range state.Masters {
		c.masters = append(c.masters, m.ID)
	}
	for _, n := range state.Tasknodes {
		c.tasknodes = append(c.tasknodes, n.Name)
	}
	if c.addresses = state.Addresses(); len(c.addresses) == 0 {
		return fmt.Errorf("%s of %s names no master", localcluster.StateFile, dir)
	}
	c.client, err = c.dial(c.addresses)
	return err
}

// dial makes a client of masters at some addresses. With the id of the cluster a client
// refuses masters of another cluster at the same address.
func (c *Cluster) dial(addresses []string) (*remote.Client, error) {
	token, err := c.Token()
	if err != nil {
		return nil, err
	}
	return remote.New(remote.Config{Config: rpc.Config{Masters: addresses, Token: token, ClusterID: c.id}})
}

// Token returns the cluster's secret.
func (c *Cluster) Token() (string, error) { return rpc.ReadToken(c.tokenFile) }

// Client returns the client that calls the cluster.
func (c *Cluster) Client() *remote.Client { return c.client }

// ClientOf returns a client that calls only these masters of a cluster of this machine. The
// caller closes it. With it a test observes the state of one master, or of a minority.
func (c *Cluster) ClientOf(masters ...string) (*remote.Client, error) {
	var addresses []string
	for _, name := range masters {
		p, err := c.Process(name)
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, p.Address)
	}
	return c.dial(addresses)
}

// Dir has everything that the cluster writes; "" if its daemons run on other machines.
func (c *Cluster) Dir() string { return c.dir }

// TokenFile returns the file with the cluster's secret.
func (c *Cluster) TokenFile() string { return c.tokenFile }

// Addresses returns the addresses at which masters answer calls, in order of the masters' names.
func (c *Cluster) Addresses() []string { return c.addresses }

// Environ returns variables for the environment of a program that uses the cluster.
func (c *Cluster) Environ() []string {
	return []string{rpc.MasterVariable + "=" + strings.Join(c.addresses, ","), rpc.TokenFileVariable + "=" + c.tokenFile}
}

// Program returns the program that runs commands of hammr on this cluster.
func (c *Cluster) Program() Program { return Program{File: c.hammr, Environ: c.Environ()} }

// Names returns the names of all masters and tasknodes.
func (c *Cluster) Names() (masters, tasknodes []string) {
	return slices.Clone(c.masters), slices.Clone(c.tasknodes)
}

// Stop stops a daemon: its ports accept connections, but nothing answers.
func (c *Cluster) Stop(ctx context.Context, name string) error {
	return c.Signal(ctx, name, syscall.SIGSTOP)
}

// Continue lets a stopped daemon continue.
func (c *Cluster) Continue(ctx context.Context, name string) error {
	return c.Signal(ctx, name, syscall.SIGCONT)
}

// Close stops the daemons, suspended ones too. It only repairs daemons that it did not
// start. The directory stays.
func (c *Cluster) Close() (err error) {
	c.closing.Do(func() {
		if c.client != nil {
			err = c.client.Close()
		}
		err = errors.Join(err, c.Daemons.Close())
	})
	return err
}

// ErrNotRunning is the cause of a failed call to a daemon whose process is gone.
var ErrNotRunning = errors.New("testcluster: the daemon does not run")

// Control ends and starts daemons by name.
//
// Cluster.Names lists the names. An unknown name is an error, or not running.
type Control interface {
	// Running reports whether the daemon has a process, stopped or not.
	Running(name string) bool
	// Kill ends a daemon as a crash does and returns when it is gone. It ignores a
	// daemon that is gone already.
	Kill(ctx context.Context, name string) error
	// Start starts those daemons that do not run, all at once, and returns when they
	// are ready.
	Start(ctx context.Context, names ...string) error
	// Signal sends SIGSTOP or SIGCONT to a daemon. It ignores one that is gone.
	Signal(ctx context.Context, name string, sig syscall.Signal) error
}

// Daemons are the masters and tasknodes of a cluster, wherever they run.
//
// There are three implementations: children of this process, the daemons of a `hammr up`,
// and daemons on other machines. Callers that need more than this interface, such as the
// files of a tasknode, work on this machine only.
type Daemons interface {
	Control
	// Process is the latest known process of a daemon. Its HTTP address is that of the
	// daemon's page; on another machine the other fields may be empty.
	Process(name string) (localcluster.Process, error)
	// Close stops the daemons, or repairs those that it did not start.
	Close() error
}
