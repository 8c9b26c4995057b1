package pool

import (
	"math"
	"slices"
	"strings"
)

const (
	// Unlimited is a maximum that there is not.
	Unlimited = math.MaxInt
	// Never is a time-out that does not come, in ms.
	Never = math.MaxInt64
	// Default is the pool of jobs that name none, whether a file names it or not.
	Default = "default"

	root = "root" // what files may call the root
)

// Order is in what order the jobs of a pool, or the pools in it, get slots.
type Order string

const (
	// Fair gives all a share.
	Fair Order = "fair"
	// FIFO serves the job of the highest priority first, then the oldest.
	FIFO Order = "fifo"
	// HFSP serves the job first that would be done first if all shared.
	HFSP Order = "hfsp"
	// DRF is fair by the kind of slot of which somebody has most.
	DRF Order = "drf"
)

var orders = []Order{Fair, FIFO, HFSP, DRF}

// ofPools reports whether pools may be ordered so, not only jobs.
func (o Order) ofPools() bool { return o == Fair || o == DRF }

// Pool is what one pool gets. It is not to be changed.
type Pool struct {
	Name     string // the whole of it; "" for the root
	Line     int    // where its description begins; 0 for a pool that has none
	Parent   *Pool  // nil for the root
	Children []*Pool

	Weight     float64 // 0 has a right to its minimum only
	Min, Max   [2]int  // slots for maps, for reduces
	MaxRunning int     // jobs of it, and of pools in it, that run at a time
	Order      Order

	// For how long a pool is below its minimum, or below Threshold of its fair
	// share, before it takes slots from others; in ms.
	MinTimeout, FairTimeout int64
	Threshold               float64 // in (0, 1]
}

// Allocations is all pools, and the limits of users.
type Allocations struct {
	Root     *Pool
	Warnings []Problem // what was read but is ignored, or makes little sense

	users          map[string]int // limits of those that have one of their own
	userMaxDefault int
	poolMaxDefault int
	order          Order // of pools that name none
	byName         map[string]*Pool
}

// Empty is allocations that name no pool: all get the same.
func Empty() *Allocations {
	top := &Pool{
		Weight: 1, Max: [2]int{Unlimited, Unlimited}, MaxRunning: Unlimited, Order: Fair,
		MinTimeout: Never, FairTimeout: Never, Threshold: .5,
	}
	return &Allocations{
		Root: top, byName: map[string]*Pool{"": top}, users: make(map[string]int),
		userMaxDefault: Unlimited, poolMaxDefault: Unlimited, order: Fair,
	}
}

// UserMaxRunning is how many jobs of a user run at a time.
func (a *Allocations) UserMaxRunning(user string) int {
	if n, ok := a.users[user]; ok {
		return n
	}
	return a.userMaxDefault
}

// LimitsRunningJobs reports whether some user or pool may have fewer jobs running than it
// likes.
func (a *Allocations) LimitsRunningJobs() bool {
	limited := a.userMaxDefault < Unlimited || a.poolMaxDefault < Unlimited
	for _, n := range a.users {
		limited = limited || n < Unlimited
	}
	for _, p := range a.byName {
		limited = limited || p.MaxRunning < Unlimited
	}
	return limited
}

// LeafNames are the names of the pools that jobs can be in, ascending: those without
// others in them.
func (a *Allocations) LeafNames() (names []string) {
	for name, p := range a.byName {
		if len(p.Children) == 0 && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Find is the pool in which a job is that names one. A name without a description
// is a pool with all defaults, a new one in each answer, in the innermost pool
// above it that has others in it. A job that names such a pool itself is in its
// default.
func (a *Allocations) Find(name string) *Pool {
	name = canonical(name)
	if name == "" {
		name = Default
	}
	p, known := a.byName[name]
	switch {
	case !known:
		return a.undescribed(name, a.enclosing(name))
	case len(p.Children) == 0:
		return p
	}
	return a.Find(name + "." + Default)
}

// canonical is a name without what files and users may put around it; "" is the
// root.
func canonical(name string) string {
	name = strings.TrimSpace(name)
	for {
		within, ok := strings.CutPrefix(name, root+".")
		if !ok {
			break
		}
		name = strings.TrimSpace(within)
	}
	if name == root {
		return ""
	}
	return name
}

// enclosing is the innermost pool that a pool without a description is in.
func (a *Allocations) enclosing(name string) *Pool {
	for {
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return a.Root
		}
		name = name[:dot]
		if p := a.byName[name]; p != nil && len(p.Children) > 0 {
			return p
		}
	}
}

// undescribed is a pool that says nothing about itself.
func (a *Allocations) undescribed(name string, parent *Pool) *Pool {
	return &Pool{
		Name: name, Parent: parent, Weight: 1, Max: [2]int{Unlimited, Unlimited}, MaxRunning: a.poolMaxDefault, Order: a.order,
		MinTimeout: parent.MinTimeout, FairTimeout: parent.FairTimeout, Threshold: parent.Threshold,
	}
}

// UsesOrder reports whether some pool, described or not, has an order.
func (a *Allocations) UsesOrder(o Order) bool {
	uses := a.order == o
	for _, p := range a.byName {
		uses = uses || p.Order == o
	}
	return uses
}
