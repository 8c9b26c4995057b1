package cluster

import "fmt"

// SetVersion raises the cluster version. A master that supports less cannot decode this entry
// and stops. So the leader proposes it only after every master has said what it supports.
type SetVersion struct {
	Version int `cbor:"Version"`
}

func (c SetVersion) subject() any { return nil }

func (c SetVersion) apply(tx *transition, _ taskRef) error {
	if c.Version <= tx.Version {
		return fmt.Errorf("%w: cluster version %d: the cluster has version %d, and a version never falls", ErrRefused, c.Version, tx.Version)
	}
	tx.Version = c.Version
	return nil
}
