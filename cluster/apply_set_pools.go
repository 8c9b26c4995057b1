package cluster

import (
	"fmt"
	"slices"
)

// DefaultPool always exists. It has the jobs that name no pool.
const DefaultPool = "default"

// SetPools sets the pools for jobs. DefaultPool need not be among them. A job of a removed
// pool stays in it until it ends or is moved.
type SetPools struct {
	Names []string `cbor:"Names"`
}

func (c SetPools) apply(tx *transition) error {
	if slices.Contains(c.Names, "") {
		return fmt.Errorf("%w: pool without a name", ErrRefused)
	}
	tx.pools = poolNames(c.Names)
	return nil
}

// poolNames returns names and DefaultPool, sorted, without duplicates.
func poolNames(names []string) []string {
	all := append([]string{DefaultPool}, names...)
	slices.Sort(all)
	return slices.Compact(all)
}
