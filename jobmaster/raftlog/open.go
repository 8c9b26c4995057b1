package raftlog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// Log is one server of the replicated log. Its methods may be called from any
// goroutine.
//
//	Open: validate ─► claimDir ─► openStores ─► openTransport ─► bootstrap ─► NewRaft
//	        │            │            │              │               │          │ restores the
//	        │            │            │              │               │          │ latest snapshot
//	        └────────────┴────────────┴──── an error releases what is open ─────┘
//	running: follower ◄──► candidate ◄──► leader, as Raft decides
//	Close, or fatal: closing ends ─► goroutines end ─► Raft shuts down ─► stores close
//
// The directory is claimed before anything in it is opened: two servers that share a
// log would break Raft's promises.
type Log struct {
	cfg       Config
	raft      *raft.Raft         // nil while open runs
	fsm       *fsm               // passes what Raft commits to the jobmaster
	disk      *disk              // file of entries, votes and terms
	store     *store             // wraps disk: measures writes, and adds the delays and errors of drills
	snapshots raft.SnapshotStore // the latest keptSnapshots snapshots, in files
	stream    *streamLayer       // connections to and from other masters
	transport *transport         // carries messages of Raft over stream

	notify chan bool  // from Raft: true when this server becomes leader, false when it steps down
	lead   leadership // what Raft has reported, and what the jobmaster knows
	peers  peerHealth // masters that do not answer this leader

	changes leadChanges // of the leader, as this master sees it

	events   chan jobmaster.LogEvent // unbuffered: when a send returns, the jobmaster has received the event
	closing  context.Context         // ends when the log closes or cannot serve
	cancel   context.CancelFunc
	tasks    syncutil.Group // goroutines for which Close waits
	drained  sync.WaitGroup // goroutine of drainNotify; it ends after tasks, because Raft waits for it
	closeOne sync.Once      // Close has an effect only once
	failOnce sync.Once      // fatal has an effect only once
}

const (
	keptSnapshots = 2   // one more than needed, because the latest may be damaged
	cachedEntries = 512 // entries in memory, for followers that lag a little

	pooledConns    = 3                // connections to each other master
	networkTimeout = 10 * time.Second // time limit of a message to another master
	lockTimeout    = 3 * time.Second  // how long Open waits for the file if another process has it open
)

// Open starts this server. The server takes part in elections at once. It emits events as
// soon as the caller receives them.
func Open(cfg Config) (*Log, error) {
	cfg.EnsureDefaults()
	l := &Log{
		cfg:    cfg,
		notify: make(chan bool, 8), lead: leadership{changed: make(chan struct{}, 1)},
		events: make(chan jobmaster.LogEvent),
	}
	l.closing, l.cancel = context.WithCancel(context.Background())
	l.fsm = newFSM(l)
	if err := l.open(); err != nil {
		l.cancel()
		return nil, errors.Join(err, l.release())
	}
	l.drained.Go(l.drainNotify)
	l.tasks.Go(l.fsm.emitRestored)
	l.tasks.Go(l.announceLeads)
	l.tasks.Go(l.watch)
	l.observe()
	return l, nil
}

// open opens the parts of the server in the order that the diagram of Log shows. After an
// error the caller releases the opened parts.
func (l *Log) open() error {
	if err := l.cfg.Validate(); err != nil {
		return err
	}
	if err := claimDir(l.cfg.Dir, identity{Cluster: l.cfg.ClusterID, Master: l.cfg.ID}); err != nil {
		return err
	}
	if err := l.openStores(); err != nil {
		return err
	}
	if err := l.openTransport(); err != nil {
		return err
	}
	if err := l.bootstrap(); err != nil {
		return err
	}
	r, err := raft.NewRaft(l.raftConfig(), l.fsm, l.cached(), l.disk, l.snapshots, l.transport)
	if err != nil {
		return fmt.Errorf("raftlog: directory %s: %w", l.cfg.Dir, errors.Join(err, l.fsm.mu.restoreErr))
	}
	l.raft = r
	if known, err := l.addressOf(l.cfg.ID); err == nil && string(known) != l.cfg.Advertise {
		l.cfg.Logger.Warn("other masters know this one by another address; remove it and add it with its present address",
			"known", known, "advertised", l.cfg.Advertise)
	}
	return nil
}

// commitTimeout is how long a follower of an idle leader waits for the commit index, at most twice.
// Followers serve pages of what they know to be committed.
const commitTimeout = 200 * time.Millisecond

// raftConfig translates the configuration for hashicorp/raft, which uses different names. In
// Raft, HeartbeatTimeout is the silence after which a follower becomes a candidate, and
// ElectionTimeout is how long a candidate waits for votes.
//
// A removed server does not shut down by itself: the operator stops its process.
func (l *Log) raftConfig() *raft.Config {
	c := raft.DefaultConfig()
	c.LocalID = raft.ServerID(l.cfg.ID)
	c.HeartbeatTimeout, c.ElectionTimeout, c.LeaderLeaseTimeout = l.cfg.ElectionTimeout, l.cfg.VoteTimeout, l.cfg.LeaderLease
	c.CommitTimeout = min(l.cfg.ElectionTimeout, commitTimeout)
	c.SnapshotThreshold, c.SnapshotInterval, c.TrailingLogs = l.cfg.SnapshotThreshold, l.cfg.SnapshotInterval, l.cfg.TrailingLogs
	c.ShutdownOnRemove = false
	c.NotifyCh = l.notify
	c.NoLegacyTelemetry = true
	c.Logger = newLogger(l.cfg.Logger)
	return c
}

// openStores opens the log's file and the directory of snapshots.
func (l *Log) openStores() error {
	disk, err := openDisk(filepath.Join(l.cfg.Dir, storeFile))
	if err != nil {
		return err
	}
	l.disk = disk
	l.store = newStore(disk, l.cfg.StoreDelay, l.closing)
	l.snapshots, err = raft.NewFileSnapshotStoreWithLogger(l.cfg.Dir, keptSnapshots, newLogger(l.cfg.Logger))
	if err != nil {
		return fmt.Errorf("raftlog: snapshots in %s: %w", l.cfg.Dir, err)
	}
	return nil
}

// cached adds a cache of the newest entries in memory. NewLogCache fails only for a size
// below 1.
func (l *Log) cached() raft.LogStore {
	cache, err := raft.NewLogCache(cachedEntries, l.store)
	if err != nil {
		panic(err)
	}
	return cache
}

// openTransport prepares the messages to other masters. It checks the advertised address: a
// master that others cannot reach could vote for itself, but could never commit.
func (l *Log) openTransport() error {
	l.cfg.Advertise = cmp.Or(l.cfg.Advertise, l.cfg.Stream.Addr().String())
	if err := CheckReachable(l.cfg.Advertise); err != nil {
		return fmt.Errorf("raftlog: Advertise: %w", err)
	}
	l.stream = newStreamLayer(l.cfg.Stream, l.cfg.Advertise)
	l.transport = &transport{NetworkTransport: raft.NewNetworkTransportWithConfig(&raft.NetworkTransportConfig{
		Stream: l.stream, MaxPool: pooledConns, Timeout: networkTimeout, Logger: newLogger(l.cfg.Logger),
		// No pipelining: with one batch at a time it gains nothing, and a follower whose
		// disk stalled might never leave a pipeline.
		MaxRPCsInFlight: 1,
	})}
	return nil
}

// bootstrap makes a new cluster, if Config.Bootstrap lists masters and there is no cluster
// yet.
//
// Raft refuses to bootstrap a directory that already has a log. Then the configuration in
// the log counts, which may have more or fewer masters by now.
func (l *Log) bootstrap() error {
	if len(l.cfg.Bootstrap) == 0 {
		return nil
	}
	var servers raft.Configuration
	for _, p := range l.cfg.Bootstrap {
		servers.Servers = append(servers.Servers, raft.Server{ID: raft.ServerID(p.ID), Address: raft.ServerAddress(p.Address)})
	}
	err := raft.BootstrapCluster(l.raftConfig(), l.store, l.disk, l.snapshots, l.transport, servers)
	if err != nil && !errors.Is(err, raft.ErrCantBootstrap) {
		return fmt.Errorf("raftlog: new cluster in %s: %w", l.cfg.Dir, err)
	}
	return nil
}

// Close stops this server. No event follows. A batch that was proposed but not emitted may
// still be committed.
func (l *Log) Close() error {
	var err error
	l.closeOne.Do(func() { err = l.close() })
	return err
}

// close ends the parts in the order of their dependence. tasks wait for answers of Raft.
// Raft waits for its transport and for drainNotify. The stores may close only when Raft no
// longer writes.
func (l *Log) close() error {
	l.cancel()
	l.tasks.Close() // Raft still answers, so every task ends.
	shutdown := l.raft.Shutdown()
	err := l.transport.Close() // Ends calls to other masters.
	err = errors.Join(err, shutdown.Error())
	l.transport.endHeartbeats()
	close(l.notify)
	l.drained.Wait()
	return errors.Join(err, l.release())
}

// release closes what open has opened.
func (l *Log) release() error {
	var errs []error
	if l.transport != nil {
		l.transport.CloseStreams()
		errs = append(errs, l.transport.Close())
	} else if l.cfg.Stream != nil {
		errs = append(errs, l.cfg.Stream.Close())
	}
	if l.disk != nil {
		errs = append(errs, l.disk.Close())
	}
	return errors.Join(errs...)
}
