package fair

import (
	"maps"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/placement"
	"github.com/hammr/hammr/sched/sharetree"
)

// Policy is the fair scheduler.
type Policy struct {
	conf   Config
	placer placement.Placer // chooses machines
	wake   int64            // when Decide may find more although nothing changes, ms; 0 is never

	ledger     ledger.Ledger            // what each job has and wants
	tree       *tree                    // the pools as queues, with their jobs
	jobs       map[cluster.JobID]*entry // jobs that have an account in the ledger
	byPriority []*entry                 // active jobs, in the order of entry.compare
	slots      cluster.Slots            // slots of all machines, as refreshSlots last counted them

	dominant func(kind int, a, b schedulable) int // the order of drf for this number of slots

	now    int64 // time of the current allocation
	view   sched.View
	capped bool // the current allocation leaves free slots of a machine to keep its load even with others

	clocks map[string]*starvationClock // by the name of the queue
}

// New returns a fair scheduler. Call Reset before any other method.
func New(conf Config) *Policy {
	conf.ensureDefaults()
	return &Policy{conf: conf, placer: placement.Placer{Placement: conf.Placement}, dominant: byDominant(cluster.Slots{})}
}

// Reset implements sched.Policy.
func (p *Policy) Reset(now int64, view sched.View) {
	p.clocks = make(map[string]*starvationClock)
	for _, r := range p.rankers() {
		r.Reset(now, view)
	}
	p.rebuild(view)
}

// rebuild builds everything but the clocks and the rankers from the view.
func (p *Policy) rebuild(view sched.View) {
	p.placer.Reset()
	p.ledger.Reset(view.View)
	p.tree, p.jobs, p.byPriority = newTree(p.conf.Allocations, p.addTreeEntry), make(map[cluster.JobID]*entry), nil
	for j := range view.Jobs() {
		p.placeJob(view.View, j.ID)
	}
	p.admit()
	for j := range view.Jobs() {
		p.update(j.ID)
	}
}

// rankers returns the configured rankers in the order of their names.
func (p *Policy) rankers() (rankers []sched.Ranker) {
	for _, order := range slices.Sorted(maps.Keys(p.conf.Rankers)) {
		rankers = append(rankers, p.conf.Rankers[order])
	}
	return rankers
}

// Observe implements sched.Policy.
func (p *Policy) Observe(now int64, view sched.View, delta cluster.Delta) {
	p.placer.Observe(view.View, delta)
	for _, r := range p.rankers() {
		r.Observe(now, view, delta)
	}
	touched := p.ledger.Observe(view.View, delta)
	for _, id := range slices.Concat(delta.Jobs, delta.Retired) {
		p.placeJob(view.View, id)
	}
	if begun := p.noteStarted(delta.Started); begun || len(delta.Jobs)+len(delta.Retired) > 0 {
		for _, e := range p.admit() {
			touched = append(touched, e.Job)
		}
	}
	for _, id := range touched {
		p.update(id)
	}
}

// update counts what a job has and wants, and drops the job if its account is closed.
func (p *Policy) update(id cluster.JobID) {
	e := p.jobs[id]
	if e == nil {
		return
	}
	p.count(e)
	if p.ledger.Account(id) == nil {
		p.remove(e)
		p.forget(e)
	}
}

// NextWake implements sched.Policy: tasks may wait for machines, and pools for the end
// of a time-out.
func (p *Policy) NextWake() int64 { return p.wake }

// Decide implements sched.Policy.
func (p *Policy) Decide(now int64, view sched.View) (plan sched.Plan) {
	p.refreshSlots(view.View)
	if p.conf.Preemption || len(p.conf.Rankers) > 0 || view.Trace {
		p.computeShares()
	}
	p.now, p.view = now, view
	p.capped = false
	plan, given := p.allocate(now, view, p.usableSlots)
	if p.capped && p.wake == 0 && startsNothing(plan) { // what the cap leaves fits no task that waits
		plan, given = p.allocate(now, view, view.FreeSlots)
	}
	if view.Trace {
		plan.Decisions = append(p.shares(now), plan.Decisions...)
	}
	if p.conf.Preemption {
		var wake int64
		plan.Preempts, wake = p.preempt(now, view, given)
		p.wake = sched.Earliest(p.wake, wake)
	}
	if p.conf.ConserveShares {
		var wake int64
		plan.Preempts, wake = p.conserve(now, view, given)
		p.wake = sched.Earliest(p.wake, wake)
	}
	return plan
}

// allocate gives out slots of machines, no more of each than free returns.
func (p *Policy) allocate(now int64, view sched.View, free func(*cluster.Machine) cluster.Slots) (plan sched.Plan, given map[*sharetree.Entry]cluster.Slots) {
	round := p.placer.RoundWithin(now, view, free)
	given = sharetree.Allocate(round, view.View, p.tree.root.treeEntry, p.tree.wanting())
	plan, p.wake = round.Finish()
	return plan, given
}

func startsNothing(plan sched.Plan) bool {
	return len(plan.Starts)+len(plan.Bundles)+len(plan.Resumes)+len(plan.BundleResumes) == 0
}

// refreshSlots counts the slots of all machines. Orders by dominant share and all fair
// shares depend on their number, so both are out of date when it changes.
func (p *Policy) refreshSlots(view cluster.View) {
	if all := p.ledger.Slots(view); all != p.slots {
		p.slots, p.dominant = all, byDominant(all)
		p.tree.root.sharesStale = true
		p.tree.root.treeEntry.Reorder()
	}
}

// computeShares computes the fair share of each queue. It follows from what the queues
// want and from the number of slots.
func (p *Policy) computeShares() {
	root := p.tree.root
	if !root.sharesStale {
		return
	}
	root.sharesStale = false
	for kind := range p.slots {
		root.share[kind] = float64(min(p.slots[kind], root.Max[kind]))
		root.divideShare(kind)
	}
}

// usableSlots returns the number of a machine's free slots that may be given out. The load
// of the cluster determines the number. While bundles of several slots wait, it is all free
// slots. capped says that it is fewer for some machine.
func (p *Policy) usableSlots(m *cluster.Machine) cluster.Slots {
	root, free := p.tree.root, p.view.FreeSlots(m)
	for kind := range free {
		if load := p.conf.LoadMaxDiff + p.load(kind); load < 1 && root.bundled == 0 {
			limit := max(int(math.Ceil(load*float64(m.Slots[kind])))-m.Used[kind], 0)
			p.capped = p.capped || limit < free[kind]
			free[kind] = min(free[kind], limit)
		}
	}
	return free
}

// load returns the number of occupied and wanted slots, divided by the slots of the cluster.
// The design document of the fair scheduler calls the rule that uses it CapBasedLoadManager.
func (p *Policy) load(kind int) float64 {
	all := p.tree.root
	return float64(all.demand[kind]+all.leaving[kind]) / float64(max(p.slots[kind], 1))
}
