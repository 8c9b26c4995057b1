package cluster

import "fmt"

// SetPolicy chooses by name the policy that gives out slots.
type SetPolicy struct{ Name string }

func (c SetPolicy) apply(tx *transition) error {
	if c.Name == "" {
		return fmt.Errorf("%w: policy without a name", ErrRefused)
	}
	tx.policy = c.Name
	tx.delta.Policy = true
	return nil
}
