package raftlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Restores is how often the state in the directory of a master was restored. Masters with
// different numbers must not talk to each other: after a restore, the masters that were replaced
// may come back.
//
//	joins an empty directory: 0 ── the first master of the cluster connects ──► its number
//	any other directory: the number in its identity, until Restore or Recover changes it
type Restores struct {
	dir string
	mu  struct {
		sync.Mutex
		identity identity
		adopts   bool // the directory has no log yet, and the master takes the number of the cluster that adds it
	}
}

// OpenRestores makes a master the owner of a directory as Open does, and reads the number. joins
// says that the master waits to be added to a cluster.
func OpenRestores(dir, clusterID, master string, joins bool) (*Restores, error) {
	_, err := os.Stat(filepath.Join(dir, storeFile))
	isNew := errors.Is(err, fs.ErrNotExist)
	if err := claimDir(dir, identity{Cluster: clusterID, Master: master}); err != nil {
		return nil, err
	}
	r := &Restores{dir: dir}
	r.mu.identity, err = readIdentity(dir)
	r.mu.adopts = joins && isNew
	return r, err
}

// Number returns the number.
func (r *Restores) Number() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.identity.Restores
}

// Accept refuses a master of the cluster that has another number. A master that joins with an empty
// directory takes the number of the first one.
func (r *Restores) Accept(number int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	own := r.mu.identity.Restores
	switch {
	case number == own:
	case r.mu.adopts && number > own:
		id := r.mu.identity
		id.Restores = number
		if err := writeIdentity(r.dir, id); err != nil {
			return err
		}
		r.mu.identity = id
	case number < own:
		return fmt.Errorf("the master has the log from before the cluster was restored; %s", rejoinRemedy)
	default:
		return fmt.Errorf("master %q has the log from before the cluster was restored; %s", r.mu.identity.Master, rejoinRemedy)
	}
	r.mu.adopts = false
	return nil
}

const rejoinRemedy = "stop it, and start it with --join and an empty directory to add it again"
