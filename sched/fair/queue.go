package fair

import (
	"cmp"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/share"
	"github.com/hammr/hammr/sched/sharetree"
)

// queue is the state of a pool. Each change of a job updates its counts (adjust). Its fair
// share is computed when it is needed.
//
// Invariants: tally is the sum over the jobs and children; demand is at most Max.
type queue struct {
	*pool.Pool          // its configuration
	parent     *queue   // nil for the root
	children   []*queue // child queues, by name
	jobs       []*entry // jobs, in the order of entry.compare

	tally                // sum over the queues below too
	wanted cluster.Slots // demand without the limit of Max

	since int64 // the cached result of oldestWaiting, unless stale
	stale bool

	share       [2]float64       // fair share in slots, as computed last
	sharesStale bool             // for the root: a demand has changed since share was computed
	treeEntry   *sharetree.Entry // its place among the pools of its parent
}

// tree contains all pools that are configured or have jobs. An unconfigured pool that jobs
// name exists as long as it has jobs.
type tree struct {
	*pool.Allocations
	root         *queue            // root of all pools
	byName       map[string]*queue // by full name, "" for the root
	addTreeEntry func(*queue)      // makes the share tree's entry of a new queue
}

func newTree(a *pool.Allocations, addTreeEntry func(*queue)) *tree {
	t := &tree{Allocations: a, byName: make(map[string]*queue), addTreeEntry: addTreeEntry}
	t.root = t.add(a.Root, nil)
	return t
}

// add makes queues for a pool and the pools in it.
func (t *tree) add(p *pool.Pool, parent *queue) *queue {
	q := &queue{Pool: p, parent: parent, stale: true}
	t.byName[p.Name] = q
	t.addTreeEntry(q)
	if parent != nil {
		i, _ := slices.BinarySearchFunc(parent.children, p.Name, compareName)
		parent.children = slices.Insert(parent.children, i, q)
	}
	for _, child := range p.Children {
		t.add(child, q)
	}
	return q
}

// compareName finds a queue among the children of another.
func compareName(q *queue, name string) int { return cmp.Compare(q.Name, name) }

// queue returns the queue of a job that names a pool.
func (t *tree) queue(name string) *queue {
	p := t.Find(name)
	if q := t.byName[p.Name]; q != nil {
		return q
	}
	return t.add(p, t.byName[p.Parent.Name])
}

// prune drops the queue of an unconfigured pool when its last job is gone.
func (t *tree) prune(q *queue) {
	if q.Line > 0 || len(q.jobs) > 0 || q.parent == nil {
		return
	}
	delete(t.byName, q.Name)
	i, _ := slices.BinarySearchFunc(q.parent.children, q.Name, compareName)
	q.parent.children = slices.Delete(q.parent.children, i, i+1)
}

// leaves returns the queues that jobs can be in, by name.
func (t *tree) leaves() (leaves []*queue) {
	var walk func(q *queue)
	walk = func(q *queue) {
		if len(q.children) == 0 && q.parent != nil {
			leaves = append(leaves, q)
		}
		for _, child := range q.children {
			walk(child)
		}
	}
	walk(t.root)
	return leaves
}

// adjust adds a change to the counts of a queue and of the queues above it.
func (q *queue) adjust(t tally) {
	uneven := !t.demand.IsZero()
	for ; q != nil; q = q.parent {
		before := q.demand
		q.wanted = q.wanted.Plus(t.demand)
		q.tally, q.stale = q.plus(t), true
		q.sharesStale = q.sharesStale || uneven
		q.demand = q.wanted.AtMost(q.Max)
		t.demand = q.demand.Minus(before)
		q.treeEntry.SetDemand(q.waiting)
	}
}

// oldestWaiting returns the time at which the oldest waiting job of a queue was submitted.
// Otherwise equal pools are ordered by this time, so that none of them waits forever.
func (q *queue) oldestWaiting() int64 {
	if !q.stale {
		return q.since
	}
	q.since, q.stale = math.MaxInt64, false
	for _, e := range q.jobs {
		if !e.counted.waiting.IsZero() {
			q.since = min(q.since, e.At)
		}
	}
	for _, child := range q.children {
		q.since = min(q.since, child.oldestWaiting())
	}
	return q.since
}

// divideShare divides the fair share of a queue among the queues in it.
func (q *queue) divideShare(kind int) {
	if len(q.children) == 0 {
		return
	}
	claims := make([]share.Claim, len(q.children))
	for i, child := range q.children {
		claims[i] = share.Claim{Weight: child.Weight, Min: float64(child.Min[kind]), Demand: float64(child.demand[kind])}
	}
	for i, s := range share.Fill(q.share[kind], claims) {
		q.children[i].share[kind] = s
		q.children[i].divideShare(kind)
	}
}

// tally counts the slots that a job, or all jobs of a pool, have and want. Differences of
// tallies are passed up the tree, so that a change of one job visits only the pools above
// it.
type tally struct {
	running cluster.Slots // slots of attempts that keep running
	leaving cluster.Slots // slots of attempts that were ordered to end and have not ended yet
	waiting cluster.Slots // slots for tasks that may start now
	ready   cluster.Slots // the part of waiting for tasks whose input is complete
	claims  cluster.Slots // the part of waiting that others may lose slots for
	demand  cluster.Slots // running and waiting; for a pool at most its maximum
	bundled int           // the part of waiting that bundles of several slots want
}

// minus returns the difference of two tallies, field by field.
func (t tally) minus(o tally) tally {
	return tally{
		running: t.running.Minus(o.running), leaving: t.leaving.Minus(o.leaving),
		waiting: t.waiting.Minus(o.waiting), ready: t.ready.Minus(o.ready), claims: t.claims.Minus(o.claims),
		demand: t.demand.Minus(o.demand), bundled: t.bundled - o.bundled,
	}
}

// plus returns the sum of two tallies, field by field.
func (t tally) plus(o tally) tally {
	return tally{
		running: t.running.Plus(o.running), leaving: t.leaving.Plus(o.leaving),
		waiting: t.waiting.Plus(o.waiting), ready: t.ready.Plus(o.ready), claims: t.claims.Plus(o.claims),
		demand: t.demand.Plus(o.demand), bundled: t.bundled + o.bundled,
	}
}

// occupied returns all slots that are not free.
func (t tally) occupied() cluster.Slots { return t.running.Plus(t.leaving) }
