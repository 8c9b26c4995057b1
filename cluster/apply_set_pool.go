package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// SetPool moves an unfinished job to another pool.
type SetPool struct {
	Job  JobID  `cbor:"Job"`
	Pool string `cbor:"Pool"`
}

func (c SetPool) apply(tx *transition) error {
	j, err := tx.job(c.Job)
	if err != nil {
		return err
	}
	if j.State.Final() {
		return fmt.Errorf("%w: %v is %v", ErrRefused, c.Job, j.State)
	}
	if err := tx.checkPool(c.Pool); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	j.Spec.Pool = c.Pool
	tx.delta.Jobs = append(tx.delta.Jobs, c.Job)
	return nil
}

// checkPool refuses an unknown pool.
func (s *State) checkPool(name string) error {
	if slices.Contains(s.pools, name) {
		return nil
	}
	return fmt.Errorf("pool %q: not one of %s", name, strings.Join(s.pools, ", "))
}
