package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// SetPolicy chooses the scheduling policy by name, and its settings.
type SetPolicy struct {
	Name string    `cbor:"Name"`
	Conf []Setting `cbor:"Conf"` // by name, ascending, each once
}

// Setting is a property of a policy, which interprets it.
type Setting struct {
	Name  string `cbor:"Name"`
	Value string `cbor:"Value"`
}

func (c SetPolicy) apply(tx *transition) error {
	if c.Name == "" {
		return fmt.Errorf("%w: policy without a name", ErrRefused)
	}
	byName := func(a, b Setting) int { return cmp.Compare(a.Name, b.Name) }
	distinct := slices.CompactFunc(slices.Clone(c.Conf), func(a, b Setting) bool { return a.Name == b.Name })
	if !slices.IsSortedFunc(c.Conf, byName) || len(distinct) < len(c.Conf) {
		return fmt.Errorf("%w: policy %s with settings out of order", ErrRefused, c.Name)
	}
	tx.policy, tx.policyConf = c.Name, c.Conf
	tx.delta.Policy = true
	return nil
}
