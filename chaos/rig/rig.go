package rig

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/ops/testcluster"
	"github.com/hammr/hammr/internal/rpc/faultrpc"
)

// Config describes a cluster to start. Zero values stand for the defaults.
type Config struct {
	// Dir gets everything that the cluster writes. It is empty, or does not exist.
	// Required.
	Dir string
	// Hammr is the program of the daemons. Required.
	Hammr string
	// Masters and Tasknodes are their numbers. Default 3 and 4.
	Masters, Tasknodes int
	// MastersOnly starts no tasknodes. Something else plays them, such as package bench/fleet.
	MastersOnly bool
	// MapSlots and ReduceSlots are the slots of each tasknode. Default 2 and 1.
	MapSlots, ReduceSlots int
	// Expiry is the silence after which a tasknode is lost. Default 1 s.
	Expiry time.Duration
	// Heartbeat is the time between two heartbeats. Default a fifth of Expiry.
	Heartbeat time.Duration
	// MasterFlags are more flags for the masters. Default none.
	MasterFlags []string
	// HDFS is a running file system with a DataNode for each tasknode, or nil. The rig
	// breaks it and does not end it.
	HDFS *minihdfs.Cluster
	// Network gives each daemon a network of its own, so that Partition can cut it off. It
	// requires a process that Isolate has prepared, and no HDFS.
	Network bool
	// SmallDisks is the size in bytes of a file system for each tasknode, which FillDisk can
	// fill; 0 is none. It requires a process that Isolate has prepared.
	SmallDisks int64
	// PowerLoss gives each daemon a disk of SmallDisks bytes that LosePower can cut off, instead
	// of one in memory. It requires SmallDisks.
	PowerLoss bool
}

// EnsureDefaults replaces zero fields by their defaults.
func (c *Config) EnsureDefaults() {
	c.Masters, c.Tasknodes = cmp.Or(c.Masters, 3), cmp.Or(c.Tasknodes, 4)
	c.MapSlots, c.ReduceSlots = cmp.Or(c.MapSlots, 2), cmp.Or(c.ReduceSlots, 1)
	if c.MastersOnly {
		c.Tasknodes = 0
	}
	c.Expiry = cmp.Or(c.Expiry, time.Second)
	c.Heartbeat = cmp.Or(c.Heartbeat, c.Expiry/5)
}

// Rig is a running cluster that can be broken.
//
//	testcluster.Cluster   masters and tasknodes: start, kill, signals
//	  + hdfsDaemons       NameNode and DataNodes under the same names of methods
//	  + network           a namespace and a link for each daemon, with Config.Network
//	  + faults            calls that set faults inside daemons (--drills)
type Rig struct {
	*testcluster.Cluster
	cfg         Config
	faults      *faultrpc.Client
	hdfs        hdfsDaemons
	network     *network                                                          // nil for none
	disks       []string                                                          // daemons with a file system of their own
	noPowerLoss error                                                             // why LosePower does not work
	run         func(ctx context.Context, daemon, command string) (string, error) // nil without guards
}

// Start starts a cluster and returns when all of it is ready. If that fails, no part of it
// runs. The caller calls Close.
func Start(ctx context.Context, cfg Config) (*Rig, error) {
	cfg.EnsureDefaults()
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, err
	}
	cfg.Dir = dir
	r := &Rig{cfg: cfg, hdfs: hdfsDaemons{cfg.HDFS}}
	tc := testcluster.Config{
		Hammr: cfg.Hammr, Expiry: cfg.Expiry, Heartbeat: cfg.Heartbeat,
		Config: localcluster.Config{
			Dir: dir, Masters: cfg.Masters, Tasknodes: cfg.Tasknodes, MastersOnly: cfg.MastersOnly, MapSlots: cfg.MapSlots, ReduceSlots: cfg.ReduceSlots,
			MasterFlags: append([]string{"--drills"}, cfg.MasterFlags...), TasknodeFlags: []string{"--drills"},
		},
	}
	if cfg.HDFS != nil {
		for i := range cfg.Tasknodes {
			tc.Addresses = append(tc.Addresses, cfg.HDFS.Host(i))
		}
	}
	if err := r.isolate(&tc.Config); err != nil {
		return nil, err
	}
	if r.Cluster, err = testcluster.Start(ctx, tc); err != nil {
		return nil, errors.Join(err, r.release())
	}
	if err := r.connect(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// HasGuards reports whether the machines of an attached cluster have guards.
func (r *Rig) HasGuards() bool { return r.run != nil }

// Guard runs a command of the guard on the machine of a daemon, such as "undo", and returns what it
// prints. It needs an attached cluster with HostConfig.Run.
func (r *Rig) Guard(ctx context.Context, daemon string, words ...string) (stdout string, err error) {
	return r.run(ctx, daemon, "guard "+strings.Join(words, " "))
}

// Attach returns a rig for a running cluster whose daemons were started with --drills. Close
// ends the faults of that cluster. The rig has no networks, disks or HDFS of its own;
// methods that need them return errors.
func Attach(ctx context.Context, cfg testcluster.HostConfig) (*Rig, error) {
	cluster, err := testcluster.Attach(ctx, cfg)
	if err != nil {
		return nil, err
	}
	r := &Rig{Cluster: cluster, run: cfg.Run}
	if err := r.connect(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// connect makes the client for faults inside daemons.
func (r *Rig) connect() error {
	token, err := r.Token()
	if err == nil {
		r.faults = faultrpc.NewClient(token)
	}
	return err
}

// HDFS returns the cluster's HDFS, or nil.
func (r *Rig) HDFS() *minihdfs.Cluster { return r.cfg.HDFS }

// control returns the Control of a daemon.
func (r *Rig) control(name string) testcluster.Control {
	if r.hdfs.has(name) {
		return r.hdfs
	}
	return r.Cluster
}

// Running reports whether a daemon has a process, stopped or not.
func (r *Rig) Running(name string) bool { return r.control(name).Running(name) }

// Kill ends a daemon as a crash does and returns when it is gone.
func (r *Rig) Kill(ctx context.Context, name string) error { return r.control(name).Kill(ctx, name) }

// Signal sends SIGSTOP or SIGCONT to a daemon. It ignores a daemon that is gone.
func (r *Rig) Signal(ctx context.Context, name string, sig syscall.Signal) error {
	return r.control(name).Signal(ctx, name, sig)
}

// Start starts those daemons that do not run, all at once, and returns when they are ready.
// HDFS starts first, since tasknodes and tasks read it.
func (r *Rig) Start(ctx context.Context, names ...string) error {
	var ours, theirs []string
	for _, name := range names {
		if r.hdfs.has(name) {
			theirs = append(theirs, name)
		} else {
			ours = append(ours, name)
		}
	}
	return errors.Join(r.hdfs.Start(ctx, theirs...), r.Cluster.Start(ctx, ours...))
}

// Close ends a cluster that Start has started and removes its networks and disks. It ends
// the faults of an attached cluster. The directory and HDFS stay.
func (r *Rig) Close() error {
	if r.faults != nil {
		r.faults.Close()
	}
	return errors.Join(r.Cluster.Close(), r.release())
}
