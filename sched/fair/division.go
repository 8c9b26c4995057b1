package fair

import (
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/pool"
	"github.com/hammr/hammr/sched/share"
	"github.com/hammr/hammr/sched/sharetree"
	"github.com/hammr/hammr/sched/victim"
)

// division is what a pool or a job has and is due of the slots in which tasks can work.
// Attempts that only wait for input do not count, neither as slots in use nor as demand.
type division struct {
	queue *queue      // the pool, or the pool of the job
	job   *entry      // nil for a pool
	pool  *division   // the pool around it; nil for the root
	jobs  []*division // the jobs of a pool

	works  int     // slots of attempts that can work, with the slots that it is about to get
	demand int     // works, and slots for further ready tasks; at most the maximum of a pool
	share  float64 // fair share of the slots, at most demand

	gained   int // slots that it gains, less those that it loses, in this decision
	claims   int // slots for ready tasks that may be taken from others
	anywhere int // the part of claims for tasks that can start on any machine
	idle     int // slots of attempts that only wait for input

	waitingStages            []*cluster.Stage // stages whose attempts only wait for input
	idleVictims, busyVictims []victim.Victim  // the youngest first; valid if searched is set
	searched                 bool
	listed                   bool // it is one of the losers
}

// divide computes what all pools and jobs have and are due.
func (c *conservation) divide(given map[*sharetree.Entry]cluster.Slots) {
	c.pools = make(map[*queue]*division)
	root := c.collect(c.policy.tree.root, nil, given)
	root.share = float64(min(c.policy.slots[c.kind], root.demand))
	c.divideShare(root)
	for _, d := range c.jobs {
		c.list(d)
	}
}

// collect counts what a pool and everything in it has and wants.
func (c *conservation) collect(q *queue, parent *division, given map[*sharetree.Entry]cluster.Slots) *division {
	d := &division{queue: q, pool: parent}
	c.pools[q] = d
	for _, child := range q.children {
		in := c.collect(child, d, given)
		d.works, d.demand, d.gained = d.works+in.works, d.demand+in.demand, d.gained+in.gained
	}
	for _, e := range q.jobs {
		if e.counted.demand[c.kind] == 0 {
			continue
		}
		in := c.divisionOf(e, given[e.treeEntry][c.kind])
		in.pool = d
		c.jobs, d.jobs = append(c.jobs, in), append(d.jobs, in)
		if in.idle > 0 {
			c.waiters = append(c.waiters, in)
		}
		d.works, d.demand, d.gained = d.works+in.works, d.demand+in.demand, d.gained+in.gained
	}
	d.demand = min(d.demand, q.Max[c.kind])
	return d
}

// divisionOf counts what a job has and wants. Slots that it is about to get go to ready tasks
// first.
func (c *conservation) divisionOf(e *entry, given int) *division {
	d := &division{queue: e.queue, job: e}
	account, j := e.account, c.view.Job(e.Job)
	for _, s := range j.Stages {
		if s.Slot != c.kind || !s.StartsAlone() {
			continue
		}
		if s.StartsEarly() {
			if n := countOf(account, s); n > 0 && c.waitsLong(j, s) {
				d.waitingStages, d.idle = append(d.waitingStages, s), d.idle+n
			}
			continue
		}
		if e.admitted && !j.Spec.Passive {
			d.anywhere += max(s.Waiting(), 0)
			d.claims += max(s.Waiting(), 0) + len(s.Suspended())
		}
	}
	ready := e.counted.ready[c.kind]
	got := min(given, ready)
	d.works, d.gained = e.counted.running[c.kind]-d.idle+got, got
	d.demand = d.works + ready - got
	d.claims, d.anywhere = max(d.claims-got, 0), max(d.anywhere-got, 0)
	return d
}

// divideShare divides the share of a pool among the pools and jobs in it.
func (c *conservation) divideShare(d *division) {
	if d.inOrder(c) {
		c.divideInOrder(d)
		return
	}
	parts := d.jobs
	for _, child := range d.queue.children {
		parts = append(parts, c.pools[child])
	}
	claims := make([]share.Claim, len(parts))
	for i, part := range parts {
		claims[i] = share.Claim{Weight: part.weight(c), Demand: float64(part.demand)}
		if part.job == nil {
			claims[i].Min = float64(part.queue.Min[c.kind])
		}
	}
	for i, s := range share.Fill(d.share, claims) {
		parts[i].share = s
		if parts[i].job == nil {
			c.divideShare(parts[i])
		}
	}
}

// inOrder reports whether the jobs of a pool are served one after the other.
func (d *division) inOrder(c *conservation) bool {
	return d.queue.Order == pool.FIFO || c.policy.conf.Rankers[d.queue.Order] != nil
}

// divideInOrder gives the share of a pool to its jobs one slot at a time, each to the first job
// in the order of the pool that can use one more.
func (c *conservation) divideInOrder(d *division) {
	request := sched.Queue{Pool: d.queue.Name, Kind: c.kind, Slots: c.policy.slots, Share: d.share}
	jobs := make(map[*sched.Claimant]*division)
	for _, j := range d.jobs {
		claimant := c.policy.claimant(c.now, c.view, j.job)
		claimant.Running[c.kind] = 0
		request.Jobs, jobs[claimant] = append(request.Jobs, claimant), j
	}
	compare := c.policy.rank(c.now, c.view, d.queue.Order, request)
	line := slices.SortedFunc(slices.Values(request.Jobs), compare)
	for rest := d.share; rest > 0 && len(line) > 0; {
		j := jobs[line[0]]
		slots := min(float64(j.demand)-j.share, rest, 1)
		j.share, rest = j.share+slots, rest-slots
		line[0].Running[c.kind]++
		if j.share >= float64(j.demand) {
			line = line[1:]
		}
		for i := 1; i < len(line) && compare(line[i-1], line[i]) > 0; i++ {
			line[i-1], line[i] = line[i], line[i-1]
		}
	}
}

// weight returns the weight of a pool or job.
func (d *division) weight(c *conservation) float64 {
	if d.job != nil {
		return c.policy.weight(d.job, int(c.kind), c.now)
	}
	return d.queue.Weight
}

// lacks returns how many slots a job may take from others: up to its share rounded up, of
// attempts that wait.
func (d *division) lacks() int { return max(min(int(math.Ceil(d.share))-d.works, d.claims), 0) }

// canLose reports whether a job keeps its share rounded down if it loses a busy slot.
func (d *division) canLose() bool { return float64(d.works-1) >= math.Floor(d.share) }

// gain adds slots to a job and to the pools around it.
func (d *division) gain(slots int) {
	d.claims -= slots
	for ; d != nil; d = d.pool {
		d.works, d.gained = d.works+slots, d.gained+slots
	}
}

// mayTakeIdle reports whether a job and the pools around it are below their shares.
func (d *division) mayTakeIdle() bool {
	for ; d.pool != nil; d = d.pool {
		if float64(d.works) >= d.share {
			return false
		}
	}
	return true
}

// mayGainFrom reports whether a job, and the pools around it that the other job is not in, may
// get one more busy slot. What loses the slot for it competes with the outermost of them: that
// one may not exceed its share, except for its first slot. The others are below their shares.
func (d *division) mayGainFrom(other *division) bool {
	if d.pool == other.pool { // the usual case, without the chain of pools
		return float64(d.works) < d.share && (d.works == 0 || float64(d.works+1) <= d.share)
	}
	for common := other.pool.chain(); ; d = d.pool {
		if float64(d.works) >= d.share {
			return false
		}
		if slices.Contains(common, d.pool) {
			return d.works == 0 || float64(d.works+1) <= d.share
		}
	}
}

// mayLoseTo reports whether a job can lose a busy slot to another job: it, and the pools around
// it that the other job is not in, keep their shares rounded down. In fifo order the jobs of a
// pool do not preempt each other.
func (d *division) mayLoseTo(to *division, c *conservation) bool {
	if d.pool == to.pool {
		return d.queue.Order != pool.FIFO && d.keeps(to) && c.precedes(to, d)
	}
	p, q := d.pool, to.pool
	for others := q.chain(); !slices.Contains(others, p.pool); p = p.pool {
		if float64(p.works-1) < math.Floor(p.share) {
			return false
		}
	}
	for q.pool != p.pool {
		q = q.pool
	}
	return d.canLose() && p.keeps(q) && c.precedes(q, p)
}

// keeps reports whether a job or pool keeps its share rounded down if it loses a slot to
// another one. It keeps one slot if the other has a share of less than one: they would take
// turns.
func (d *division) keeps(to *division) bool {
	least := math.Floor(d.share)
	if to.works == 0 && to.share < 1 {
		least = max(least, 1)
	}
	return float64(d.works-1) >= least
}

// precedes reports whether the allocation gives the next slot to one job or pool before
// another one of the same pool, which has lost a slot. Otherwise the loser would get it back.
func (c *conservation) precedes(to, from *division) bool {
	if to.job != nil && to.pool.inOrder(c) {
		return true
	}
	kind := int(c.kind)
	of := func(d *division, more int) schedulable {
		s := schedulable{weight: d.weight(c)}
		if s.running = d.queue.running; d.job != nil {
			s.running = d.job.counted.running
		} else {
			s.min, s.demand = d.queue.Min[kind], d.queue.demand[kind]
		}
		s.running[kind] += d.gained + more
		return s
	}
	order := of(to, 0).compare(kind, of(from, -1), c.policy.ratio(to.pool.queue.Order))
	return order < 0 || order == 0 && to.job != nil && to.job.compareAge(from.job) < 0
}

// chain returns a pool and the pools around it.
func (d *division) chain() (pools []*division) {
	for ; d != nil; d = d.pool {
		pools = append(pools, d)
	}
	return pools
}
