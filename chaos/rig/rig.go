package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/client/remote"
	"github.com/hammr/hammr/internal/faultrpc"
	"github.com/hammr/hammr/internal/localcluster"
	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/internal/rpc"
)

// Config is what to start. Zero values stand for the defaults.
type Config struct {
	// Dir gets everything that the cluster writes. It is empty, or not there.
	// Required.
	Dir string
	// Hammr is the program of the daemons. Required.
	Hammr string
	// Masters and Tasknodes are how many; default 3 and 4.
	Masters, Tasknodes int
	// MapSlots and ReduceSlots are of each tasknode; default 2 and 1.
	MapSlots, ReduceSlots int
	// Expiry is the silence after which a tasknode is given up; default 1 s.
	Expiry time.Duration
	// Heartbeat is the time between two signs of life; default a fifth of Expiry.
	Heartbeat time.Duration
	// MasterFlags are more flags for the masters; default none.
	MasterFlags []string
	// HDFS is a file system that runs, with a DataNode for each tasknode, or nil.
	// The rig breaks it and does not end it.
	HDFS *minihdfs.Cluster
	// Network gives each daemon a network of its own, so that it can be cut off.
	// It takes a process that Isolate has prepared, and goes with no HDFS.
	Network bool
	// SmallDisks is how many bytes each tasknode has for its files, on a file
	// system of its own that can be filled; 0 is none. It takes a process that
	// Isolate has prepared.
	SmallDisks int64
}

// EnsureDefaults fills in what was left zero.
func (c *Config) EnsureDefaults() {
	for _, field := range []struct {
		at      *int
		initial int
	}{{&c.Masters, 3}, {&c.Tasknodes, 4}, {&c.MapSlots, 2}, {&c.ReduceSlots, 1}} {
		if *field.at == 0 {
			*field.at = field.initial
		}
	}
	if c.Expiry == 0 {
		c.Expiry = time.Second
	}
	if c.Heartbeat == 0 {
		c.Heartbeat = c.Expiry / 5
	}
}

// Rig is a cluster that runs, as far as it is not broken.
type Rig struct {
	cfg     Config
	id      string
	client  *remote.Client
	faults  *faultrpc.Client
	network *network // nil for none
	hosts   *hosts   // of a cluster that somebody else has started; nil for this one's own

	mu struct {
		sync.Mutex
		cluster *localcluster.Cluster
		closed  bool
	}
}

// Start starts a cluster and returns when all of it is ready. On an error nothing
// of it runs. The caller calls Close.
func Start(ctx context.Context, cfg Config) (*Rig, error) {
	cfg.EnsureDefaults()
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Dir = dir
	r := &Rig{cfg: cfg}
	lc, err := r.layout()
	if err != nil {
		return nil, err
	}
	cluster, err := localcluster.Up(ctx, lc)
	if err != nil {
		return nil, err
	}
	r.mu.cluster, r.id = cluster, cluster.State.ID
	if err := r.connect(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// layout is the cluster as internal/localcluster is told of it.
func (r *Rig) layout() (localcluster.Config, error) {
	cfg := r.cfg
	lc := localcluster.Config{
		Dir: cfg.Dir, Program: []string{cfg.Hammr}, Masters: cfg.Masters, Tasknodes: cfg.Tasknodes,
		MapSlots: cfg.MapSlots, ReduceSlots: cfg.ReduceSlots,
		MasterFlags:   append([]string{"--drills", "--expiry", cfg.Expiry.String()}, cfg.MasterFlags...),
		TasknodeFlags: []string{"--drills", "--heartbeat", cfg.Heartbeat.String()},
	}
	if cfg.HDFS != nil {
		for i := range cfg.Tasknodes {
			lc.Addresses = append(lc.Addresses, cfg.HDFS.Host(i))
		}
	}
	return lc, r.isolate(&lc)
}

func (r *Rig) connect() error {
	token, err := rpc.ReadToken(r.tokenFile())
	if err != nil {
		return err
	}
	r.faults = faultrpc.NewClient(token)
	r.client, err = r.dial(token, r.mu.cluster.State.Addresses())
	return err
}

// dial makes a client of masters at some addresses.
func (r *Rig) dial(token string, addresses []string) (*remote.Client, error) {
	return remote.New(remote.Config{Config: rpc.Config{Masters: addresses, Token: token, ClusterID: r.id}})
}

// ClientOf speaks to some masters alone, of a cluster that was started here. The
// caller closes it.
func (r *Rig) ClientOf(masters ...string) (*remote.Client, error) {
	var addresses []string
	for _, name := range masters {
		p, err := r.Process(name)
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, p.Address)
	}
	token, err := rpc.ReadToken(r.tokenFile())
	if err != nil {
		return nil, err
	}
	return r.dial(token, addresses)
}

func (r *Rig) tokenFile() string { return filepath.Join(r.cfg.Dir, localcluster.TokenFile) }

// Client speaks to the cluster.
func (r *Rig) Client() *remote.Client { return r.client }

// Dir has everything that the cluster writes; "" of one that was attached.
func (r *Rig) Dir() string { return r.cfg.Dir }

// HDFS is the cluster's, or nil.
func (r *Rig) HDFS() *minihdfs.Cluster { return r.cfg.HDFS }

// Environ is what a program needs in its environment, beside what this process
// has, to use the cluster.
func (r *Rig) Environ() []string {
	if r.hosts != nil {
		return []string{
			rpc.MasterVariable + "=" + strings.Join(r.hosts.cfg.Masters, ","),
			rpc.TokenFileVariable + "=" + r.hosts.cfg.TokenFile,
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return []string{
		rpc.MasterVariable + "=" + strings.Join(r.mu.cluster.State.Addresses(), ","),
		rpc.TokenFileVariable + "=" + r.tokenFile(),
	}
}

// Names are those of all masters and tasknodes, in this order.
func (r *Rig) Names() (masters, tasknodes []string) {
	if r.hosts != nil {
		return r.hosts.names(Jobmaster), r.hosts.names(Tasknode)
	}
	for i := range r.cfg.Masters {
		masters = append(masters, fmt.Sprintf("m%d", i+1))
	}
	for i := range r.cfg.Tasknodes {
		tasknodes = append(tasknodes, fmt.Sprintf("n%d", i+1))
	}
	return masters, tasknodes
}

// Close ends the cluster, what stands still of it too, and removes what it has
// changed about the machine. The directory stays. HDFS is left as it is.
func (r *Rig) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.mu.closed {
		return nil
	}
	r.mu.closed = true
	var faults []error
	if r.hosts != nil {
		faults = append(faults, r.mendHosts())
	}
	if r.client != nil {
		faults = append(faults, r.client.Close())
	}
	if r.faults != nil {
		r.faults.Close()
	}
	if r.hosts != nil {
		return errors.Join(faults...)
	}
	masters, tasknodes := r.Names()
	for _, name := range append(masters, tasknodes...) {
		for _, pid := range r.tasksLocked(name) {
			_ = syscall.Kill(-pid, syscall.SIGCONT) // it may be gone by now
		}
		if p, err := r.processLocked(name); err == nil && p.Alive() {
			faults = append(faults, signal(p.PID, syscall.SIGCONT))
		}
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	faults = append(faults, r.mu.cluster.Wait(ended, nil), r.release())
	return errors.Join(faults...)
}

// RemainingProcesses are the processes that still have the cluster's directory on their
// command lines: none after Close.
func (r *Rig) RemainingProcesses() (lines []string) {
	if r.hosts != nil {
		return nil
	}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is in order
	for _, file := range files {
		line, err := os.ReadFile(file)
		pid := filepath.Base(filepath.Dir(file))
		if err == nil && strings.Contains(string(line), r.cfg.Dir+"/") && pid != fmt.Sprint(os.Getpid()) {
			lines = append(lines, pid+" "+strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return lines
}
