package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/cluster"
)

// A cluster that has lost a majority of its masters continues from one master, which is made from
// a backup (Restore) or from the directory of a master that is left (Recover). Other masters join
// it afterwards, with empty directories.
//
// The masters that were replaced may come back. They have the same cluster, token and addresses,
// so they could elect a leader of their own or send the new masters their old log. The number of
// restores keeps the two apart: it is in the state and beside the identity of each directory, and
// a master accepts no connection from a master with another number (Restores, daemon.Port).

// restoredTerms is added to the term of a backup. A term is never used by two leaders, so it must
// be above every term that the lost masters have reached since.
const restoredTerms = 1_000_000

// keyCurrentTerm is the key under which Raft stores the current term.
var keyCurrentTerm = []byte("CurrentTerm")

// Restore makes the directory of a master from a backup. The master has the whole cluster for
// itself. The directory must be missing or empty.
//
// The identity is written last: a directory that is incomplete because Restore was interrupted has
// a log and no identity, and Open refuses it.
func Restore(b *Backup, dir string, master Peer) (err error) {
	if err := CheckReachable(master.Address); err != nil {
		return fmt.Errorf("raftlog: master %q: %w", master.ID, err)
	}
	state, err := b.State()
	if err != nil {
		return err
	}
	if id := cluster.New(b.Cluster).View().Cluster(); id != state.ID {
		return fmt.Errorf("raftlog: backup of cluster %s has a snapshot of %s: use another copy or another backup", b.Cluster, state.ID)
	}
	if err := checkNew(dir); err != nil {
		return err
	}
	state.MarkRestored(time.Now().UnixMilli())
	stores, err := openOffline(dir)
	if err != nil {
		return err
	}
	term := b.Term + restoredTerms
	err = errors.Join(stores.disk.SetUint64(keyCurrentTerm, term), stores.putSnapshot(state.Snapshot(), b.Index, term, alone(master)), stores.disk.Close())
	if err != nil {
		return fmt.Errorf("raftlog: restore to %s: %w", dir, err)
	}
	return writeIdentity(dir, identity{Cluster: b.Cluster, Master: master.ID, Restores: state.Restores})
}

// checkNew refuses a directory that has anything in it.
func checkNew(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("raftlog: directory of the master: %w", err)
	case len(entries) > 0:
		return fmt.Errorf("raftlog: directory %s is not empty, it has %s: give another directory, or move this one away", dir, entries[0].Name())
	}
	return nil
}

// alone is the configuration of a cluster with one master.
func alone(master Peer) raft.Configuration {
	return raft.Configuration{Servers: []raft.Server{{ID: raft.ServerID(master.ID), Address: raft.ServerAddress(master.Address)}}}
}

// offlineStores are the stores of a directory that no master uses.
type offlineStores struct {
	disk      *disk
	snapshots raft.SnapshotStore
	transport raft.Transport // carries nothing; Raft encodes addresses with it
}

// openOffline opens the stores of a directory, and makes them if they are missing. The caller
// closes disk.
func openOffline(dir string) (*offlineStores, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("raftlog: directory of the master: %w", err)
	}
	disk, err := openDisk(filepath.Join(dir, storeFile))
	if err != nil {
		return nil, err
	}
	snapshots, err := raft.NewFileSnapshotStoreWithLogger(dir, keptSnapshots, noLogger())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("raftlog: snapshots in %s: %w", dir, err), disk.Close())
	}
	_, transport := raft.NewInmemTransport("")
	return &offlineStores{disk, snapshots, transport}, nil
}

// putSnapshot writes a snapshot.
func (s *offlineStores) putSnapshot(snapshot *cluster.Snapshot, index, term uint64, members raft.Configuration) error {
	sink, err := s.snapshots.Create(1, index, term, members, 1, s.transport)
	if err != nil {
		return err
	}
	if err := snapshot.Encode(sink); err != nil {
		return errors.Join(err, sink.Cancel())
	}
	return sink.Close()
}
