package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// SetPolicy chooses the scheduling policy by name, and its settings.
type SetPolicy struct {
	Name string    `cbor:"Name"`
	Conf []Setting `cbor:"Conf"` // sorted by name, each name once
}

// Setting is a property of a policy, which interprets it.
type Setting struct {
	Name  string `cbor:"Name"`
	Value string `cbor:"Value"`
}

func (c SetPolicy) subject() any { return nil }

func (c SetPolicy) apply(tx *transition, _ taskRef) error {
	if c.Name == "" {
		return fmt.Errorf("%w: policy without a name", ErrRefused)
	}
	byName := func(a, b Setting) int { return cmp.Compare(a.Name, b.Name) }
	distinct := slices.CompactFunc(slices.Clone(c.Conf), func(a, b Setting) bool { return a.Name == b.Name })
	if !slices.IsSortedFunc(c.Conf, byName) || len(distinct) < len(c.Conf) {
		return fmt.Errorf("%w: policy %s with settings out of order", ErrRefused, c.Name)
	}
	tx.Policy, tx.PolicyConf = c.Name, c.Conf
	tx.delta.Policy = true
	return nil
}

// DefaultPool always exists. It contains the jobs that name no pool.
const DefaultPool = "default"

// SetPools sets the pools for jobs. DefaultPool need not be among them. A job of a removed
// pool stays in it until it ends or is moved.
type SetPools struct {
	Names []string `cbor:"Names"`
}

func (c SetPools) subject() any { return nil }

func (c SetPools) apply(tx *transition, _ taskRef) error {
	if slices.Contains(c.Names, "") {
		return fmt.Errorf("%w: pool without a name", ErrRefused)
	}
	tx.Pools = poolNames(c.Names)
	return nil
}

// SetLimits replaces the limits. They hold for later submissions and reports.
type SetLimits struct {
	Limits Limits `cbor:"Limits"`
}

func (c SetLimits) subject() any { return nil }

func (c SetLimits) apply(tx *transition, _ taskRef) error {
	if err := c.Limits.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	tx.Limits = c.Limits
	return nil
}

// poolNames returns names and DefaultPool, sorted, without duplicates.
func poolNames(names []string) []string {
	all := append([]string{DefaultPool}, names...)
	slices.Sort(all)
	return slices.Compact(all)
}
