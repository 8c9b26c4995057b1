package raftlog

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/cluster"
)

// Survivor is the directory of a master that is left of a cluster, while the master does not run.
// It must be closed.
type Survivor struct {
	Cluster string   // id of the cluster
	Self    Master   // the master whose directory it is
	Masters []Master // of the cluster, as far as this master knows

	dir      string
	identity identity
	restores int // of its latest snapshot
	stores   *offlineStores
	config   *raft.Config
}

// OpenSurvivor opens the directory of a master. While it is open, the master cannot start.
func OpenSurvivor(dir string) (*Survivor, error) {
	s := &Survivor{dir: dir}
	var err error
	if s.identity, err = readIdentity(dir); err != nil {
		return nil, fmt.Errorf("%w: give the --dir of a master of the cluster", err)
	}
	if s.stores, err = openOffline(dir); err != nil {
		return nil, err
	}
	s.Cluster = s.identity.Cluster
	s.config = raft.DefaultConfig()
	s.config.LocalID, s.config.Logger, s.config.NoLegacyTelemetry = raft.ServerID(s.identity.Master), noLogger(), true
	if err := s.readMasters(); err != nil {
		return nil, errors.Join(fmt.Errorf("raftlog: directory %s: %w", dir, err), s.Close())
	}
	return s, nil
}

// Close closes the directory.
func (s *Survivor) Close() error { return s.stores.disk.Close() }

// readMasters reads the latest configuration, committed or not.
func (s *Survivor) readMasters() error {
	config, fsm := *s.config, newOfflineFSM(s.Cluster) // GetConfiguration changes both
	members, err := raft.GetConfiguration(&config, fsm, s.stores.disk, s.stores.disk, s.stores.snapshots, s.stores.transport)
	if err != nil {
		return err
	}
	s.restores = fsm.state.View().Restores()
	for _, server := range members.Servers {
		m := Master{Peer: Peer{ID: string(server.ID), Address: string(server.Address)}, Voter: server.Suffrage == raft.Voter}
		if s.Masters = append(s.Masters, m); m.ID == s.identity.Master {
			s.Self = m
		}
	}
	if s.Self.ID == "" {
		return fmt.Errorf("master %q is not a member of its cluster: recover another master, or restore a backup", s.identity.Master)
	}
	return nil
}

// Recover makes this master the only one of its cluster. The directory keeps everything that the
// master has, also entries that may not have been committed.
//
// The identity is written first: if Recover is interrupted, the master cannot reach those that it
// replaces. Recover can then be repeated.
func (s *Survivor) Recover(address string) error {
	if err := CheckReachable(address); err != nil {
		return fmt.Errorf("raftlog: master %q: %w", s.Self.ID, err)
	}
	fsm := newOfflineFSM(s.Cluster)
	fsm.restoredAt = time.Now().UnixMilli()
	members := alone(Peer{ID: s.Self.ID, Address: address})
	s.identity.Restores = s.restores + 1
	err := writeIdentity(s.dir, s.identity)
	if err == nil {
		err = raft.RecoverCluster(s.config, fsm, s.stores.disk, s.stores.disk, s.stores.snapshots, s.stores.transport, members)
	}
	if err = errors.Join(err, fsm.err); err == nil {
		err = s.raiseTerm()
	}
	if err != nil {
		return fmt.Errorf("raftlog: recovery of %s: %w", s.dir, err)
	}
	return nil
}

// raiseTerm makes the next term higher than every term of the masters that are lost.
func (s *Survivor) raiseTerm() error {
	term, err := s.stores.disk.GetUint64(keyCurrentTerm)
	if err != nil {
		return err
	}
	return s.stores.disk.SetUint64(keyCurrentTerm, term+restoredTerms)
}

// offlineFSM applies a log to a state without a jobmaster. Its snapshot is of the state as
// MarkRestored leaves it.
type offlineFSM struct {
	cluster    string
	state      *cluster.State
	restoredAt int64 // ms since the epoch
	err        error // of the first entry that cannot be applied
}

func newOfflineFSM(id string) *offlineFSM {
	return &offlineFSM{cluster: id, state: cluster.NewAt(id, cluster.FirstVersion)}
}

// Apply implements raft.FSM. A command that the state refuses has no effect, on this master as on
// every other. One that panics costs its job, as on every other.
func (f *offlineFSM) Apply(entry *raft.Log) any {
	if len(entry.Data) == 0 || f.err != nil {
		return nil
	}
	batch, err := cluster.DecodeEntries(entry.Data)
	if err != nil {
		f.err = fmt.Errorf("log entry %d: %w", entry.Index, err)
		return nil
	}
	for _, e := range batch {
		_, _ = f.state.ApplyContained(e, nil) // the masters have logged the panic
	}
	return nil
}

// Restore implements raft.FSM.
func (f *offlineFSM) Restore(from io.ReadCloser) error {
	state, err := decodeState(from, f.cluster)
	if err == nil {
		f.state = state
	}
	return err
}

// Snapshot implements raft.FSM.
func (f *offlineFSM) Snapshot() (raft.FSMSnapshot, error) {
	if f.err != nil {
		return nil, f.err
	}
	f.state.MarkRestored(f.restoredAt) // nothing is applied to it afterwards
	return offlineSnapshot{f.state.Snapshot()}, nil
}

type offlineSnapshot struct{ *cluster.Snapshot }

// Persist implements raft.FSMSnapshot.
func (s offlineSnapshot) Persist(sink raft.SnapshotSink) error { return s.Encode(sink) }

// Release implements raft.FSMSnapshot.
func (offlineSnapshot) Release() {}
