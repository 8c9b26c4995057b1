package cluster

import (
	"fmt"
	"slices"
)

// DefaultPool is the pool that is always there. Jobs that name none are in it.
const DefaultPool = "default"

// SetPools says into which pools jobs may be put. DefaultPool need not be named.
// Jobs that are in another one stay there until they are over or moved.
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

// poolNames are names with DefaultPool, in order, each once.
func poolNames(names []string) []string {
	all := append([]string{DefaultPool}, names...)
	slices.Sort(all)
	return slices.Compact(all)
}
