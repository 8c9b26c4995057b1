package pool

import "maps"

// Revise returns a copy in which change has been applied to every pool, from the root
// down. Unconfigured pools inherit the changed time-outs and threshold of the pool
// around them.
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
