package pool

import "maps"

// Revise is a copy in which change has been at every pool, each after the one
// that it is in. Pools without a description take over what is then said around
// them.
func (a *Allocations) Revise(change func(*Pool)) *Allocations {
	revised := *a
	revised.byName, revised.users = make(map[string]*Pool, len(a.byName)), maps.Clone(a.users)
	var walk func(p, parent *Pool) *Pool
	walk = func(p, parent *Pool) *Pool {
		own := *p
		own.Parent, own.Children = parent, nil
		change(&own)
		revised.byName[own.Name] = &own
		for _, child := range p.Children {
			own.Children = append(own.Children, walk(child, &own))
		}
		return &own
	}
	revised.Root = walk(a.Root, nil)
	return &revised
}
