package fair

import (
	"cmp"
	"math"
	"slices"

	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/share"
	"github.com/hammr/hammr/sched/sharetree"
)

// queue is a pool as it stands.
type queue struct {
	*pool.Pool
	parent   *queue
	children []*queue // by name
	jobs     []*entry // by entry.compare

	tally        // with the pools in it
	wanted slots // demand without regard to the maximum

	since int64 // when the oldest of its jobs that wait was submitted; what age says, unless stale
	stale bool

	share       [2]float64 // of slots, as divide has found it last
	sharesStale bool       // of the root: somebody's demand is another since then
	treeEntry   *sharetree.Entry
}

// tree is all pools that are described or have jobs.
type tree struct {
	*pool.Allocations
	root   *queue
	byName map[string]*queue
	seat   func(*queue) // seats those that are new
}

func newTree(a *pool.Allocations, seat func(*queue)) *tree {
	t := &tree{Allocations: a, byName: make(map[string]*queue), seat: seat}
	t.root = t.add(a.Root, nil)
	return t
}

// add makes queues of a pool and those in it.
func (t *tree) add(p *pool.Pool, parent *queue) *queue {
	q := &queue{Pool: p, parent: parent, stale: true}
	t.byName[p.Name] = q
	t.seat(q)
	if parent != nil {
		i, _ := slices.BinarySearchFunc(parent.children, p.Name, compareName)
		parent.children = slices.Insert(parent.children, i, q)
	}
	for _, child := range p.Children {
		t.add(child, q)
	}
	return q
}

func compareName(q *queue, name string) int { return cmp.Compare(q.Name, name) }

// queue is the one that a job is in which names a pool.
func (t *tree) queue(name string) *queue {
	p := t.Find(name)
	if q := t.byName[p.Name]; q != nil {
		return q
	}
	return t.add(p, t.byName[p.Parent.Name])
}

// prune forgets a queue without a description when its last job is gone.
func (t *tree) prune(q *queue) {
	if q.Line > 0 || len(q.jobs) > 0 || q.parent == nil {
		return
	}
	delete(t.byName, q.Name)
	i, _ := slices.BinarySearchFunc(q.parent.children, q.Name, compareName)
	q.parent.children = slices.Delete(q.parent.children, i, i+1)
}

// leaves are the queues that jobs can be in, by name.
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

// adjust adds to what the queue, and those that it is in, have and want.
func (q *queue) adjust(t tally) {
	uneven := t.demand != slots{}
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

// oldestWaiting is since when some job in a queue waits that waits still. Pools that are
// alike otherwise go by it, or one would wait as long as there are others.
func (q *queue) oldestWaiting() int64 {
	if !q.stale {
		return q.since
	}
	q.since, q.stale = math.MaxInt64, false
	for _, e := range q.jobs {
		if e.counted.waiting != (slots{}) {
			q.since = min(q.since, e.submittedAt)
		}
	}
	for _, child := range q.children {
		q.since = min(q.since, child.oldestWaiting())
	}
	return q.since
}

// divideShare finds the fair share of the queues in one, which has its own.
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
