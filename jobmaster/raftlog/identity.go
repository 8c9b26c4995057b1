package raftlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// identity names the owner of a directory. It is written before anything else.
//
// A server must never forget a vote or an entry that it has written. If another server used
// its directory, a majority could elect two leaders in one term. So the owner is written to
// a file, as
//
//	{"cluster":"1731955200000","master":"m1"}
type identity struct {
	Cluster  string `json:"cluster"`
	Master   string `json:"master"`
	Restores int    `json:"restores,omitempty"` // how often the state of the directory was restored, see Restores
}

// isOwner reports whether two identities are of the same master.
func (id identity) isOwner(other identity) bool {
	return id.Cluster == other.Cluster && id.Master == other.Master
}

const (
	identityFile = "master.json"
	storeFile    = "raft.db"
)

// claimDir makes the master the owner of a directory, or checks that it is the owner.
func claimDir(dir string, want identity) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("raftlog: directory of the master: %w", err)
	}
	found, err := readIdentity(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return claimNewDir(dir, want)
	}
	if err != nil {
		return err
	}
	if !found.isOwner(want) {
		return fmt.Errorf("raftlog: directory %s belongs to master %q of cluster %q, not to master %q of cluster %q: give another directory",
			dir, found.Master, found.Cluster, want.Master, want.Cluster)
	}
	return nil
}

// claimNewDir makes the master the owner of a directory without an owner. It refuses a
// directory that contains a log, since the owner of the log is not known.
func claimNewDir(dir string, id identity) error {
	if _, err := os.Stat(filepath.Join(dir, storeFile)); err == nil {
		return fmt.Errorf("raftlog: directory %s holds a log but no %s that names its owner: give another directory", dir, identityFile)
	}
	return writeIdentity(dir, id)
}

// readIdentity returns the owner of a directory. The error wraps fs.ErrNotExist if it has none.
func readIdentity(dir string) (id identity, err error) {
	path := filepath.Join(dir, identityFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return id, fmt.Errorf("raftlog: directory of the master: %w", err)
	}
	if err := json.Unmarshal(data, &id); err != nil {
		return id, fmt.Errorf("raftlog: %s does not name the owner of its directory: %w", path, err)
	}
	return id, nil
}

// writeIdentity makes a master the owner of a directory.
func writeIdentity(dir string, id identity) error {
	data, err := json.Marshal(id)
	if err != nil {
		return fmt.Errorf("raftlog: %s: %w", identityFile, err)
	}
	if err := writeDurably(dir, identityFile, append(data, '\n')); err != nil {
		return fmt.Errorf("raftlog: directory of the master: %w", err)
	}
	return nil
}

// writeDurably writes a file atomically: even after a crash the file is complete or absent.
func writeDurably(dir, name string, data []byte) error {
	f, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return SyncDir(dir)
}

// SyncDir makes the names in a directory durable.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
