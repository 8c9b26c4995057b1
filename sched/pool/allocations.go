package pool

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/hammr/hammr/cluster"
)

const (
	// Unlimited is the value of a maximum that does not exist.
	Unlimited = math.MaxInt
	// Never is the value of a time-out that does not exist, in ms.
	Never = math.MaxInt64
	// Default is the pool of jobs that name no pool. It exists even if no file names it.
	Default = "default"

	root = "root" // a name that files may use for the root
)

// Order is the order in which the jobs of a pool, or the pools in it, get slots.
type Order string

const (
	// Fair gives each a share by weight.
	Fair Order = "fair"
	// FIFO serves the job of the highest priority first, then the oldest.
	FIFO Order = "fifo"
	// HFSP first serves the job that would end first if all jobs shared the slots.
	HFSP Order = "hfsp"
	// DRF is fair sharing by dominant share: each counts with the kind of slot of which it
	// uses most.
	DRF Order = "drf"
)

var orders = []Order{Fair, FIFO, HFSP, DRF}

// ofPools reports whether the order may apply to the pools in a pool. Jobs may have any
// order.
func (o Order) ofPools() bool { return o == Fair || o == DRF }

// Pool is the configuration of one pool. It is read-only for callers. A pool with
// children has no jobs of its own: they are in its child "default".
type Pool struct {
	Name     string  // full name, such as research.nightly; "" for the root
	Line     int     // line of the file where it begins; 0 for an unconfigured pool
	Parent   *Pool   // nil for the root
	Children []*Pool // in the order of the file

	Weight     float64       // weight; 0 is a right to its minimum only
	Min, Max   cluster.Slots // minimum share and maximum; Unlimited for no maximum
	MaxRunning int           // limit of running jobs, including jobs of the pools in it; Unlimited for none
	Order      Order         // order of its jobs, or of the pools in it

	// MinTimeout is the time for which a pool is below its minimum before it takes slots
	// from others, in ms. FairTimeout is the same for Threshold of its fair share.
	MinTimeout, FairTimeout int64
	Threshold               float64 // in (0, 1]
}

// Allocations contains all configured pools, and the limits of users.
type Allocations struct {
	Root     *Pool     // root of all pools
	Warnings []Problem // settings that are ignored, or that contradict each other

	users          map[string]int   // limits of users that have their own
	userMaxDefault int              // limit of running jobs of users without their own
	poolMaxDefault int              // limit of running jobs of pools without their own
	order          Order            // order of pools without their own (defaultPoolSchedulingMode)
	byName         map[string]*Pool // configured pools by full name, with the root under ""
}

// Empty returns allocations without pools: every pool that a job names gets the same
// share. There are no limits and no time-outs, as in Hadoop without an allocation file.
func Empty() *Allocations {
	top := &Pool{
		Weight: 1, Max: cluster.Slots{Unlimited, Unlimited}, MaxRunning: Unlimited, Order: Fair,
		MinTimeout: Never, FairTimeout: Never, Threshold: .5,
	}
	return &Allocations{
		Root: top, byName: map[string]*Pool{"": top}, users: make(map[string]int),
		userMaxDefault: Unlimited, poolMaxDefault: Unlimited, order: Fair,
	}
}

// UserMaxRunning returns the limit of a user's running jobs; Unlimited for none.
func (a *Allocations) UserMaxRunning(user string) int {
	if n, ok := a.users[user]; ok {
		return n
	}
	return a.userMaxDefault
}

// LimitsRunningJobs reports whether any user or pool has a limit of running jobs. If not, a
// policy need not count running jobs.
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

// LeafNames returns the names of the configured pools that jobs can be in, ascending. These
// are the pools without pools in them.
func (a *Allocations) LeafNames() (names []string) {
	for name, p := range a.byName {
		if len(p.Children) == 0 && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Find returns the pool of a job that names a pool. An unconfigured name is a pool with all
// defaults, in the innermost configured pool above it that has pools in it. Each call
// returns a new pool for it. A job that names a pool with pools in it is in that pool's
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

// canonical returns a name without blanks and without the prefix for the root that files and
// users may add; "" is the root.
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

// enclosing returns the innermost configured pool around an unconfigured pool.
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

// undescribed returns a pool with all defaults.
func (a *Allocations) undescribed(name string, parent *Pool) *Pool {
	return &Pool{
		Name: name, Parent: parent, Weight: 1, Max: cluster.Slots{Unlimited, Unlimited}, MaxRunning: a.poolMaxDefault, Order: a.order,
		MinTimeout: parent.MinTimeout, FairTimeout: parent.FairTimeout, Threshold: parent.Threshold,
	}
}

// UsesOrder reports whether any pool, configured or not, has the given order. An
// unconfigured pool has the default order.
func (a *Allocations) UsesOrder(o Order) bool {
	uses := a.order == o
	for _, p := range a.byName {
		uses = uses || p.Order == o
	}
	return uses
}

// Revise returns a copy in which change has been applied to every pool, from the root down.
// Unconfigured pools inherit the changed time-outs and threshold of the pool around them.
// The Hammr policy uses Revise to remove settings that its paper does not have.
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
