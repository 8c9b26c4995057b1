package fair

import (
	"maps"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/deal"
	"github.com/hammr/hammr/sched/ledger"
)

// Policy is the fair scheduler.
type Policy struct {
	conf   Config
	placer sched.Placer
	wake   int64

	ledger ledger.Ledger
	tree   *tree
	jobs   map[cluster.JobID]*entry
	line   []*entry // active jobs, by entry.compare
	slots  slots    // of all machines, as survey has counted them

	dominant func(kind int, a, b standing) int // the order of drf, with these slots

	now  int64 // of the deal under way
	view sched.View

	clocks map[string]*clock // by name of queue
}

// New is a fair scheduler. It is to be Reset before it is asked anything.
func New(conf Config) *Policy {
	conf.ensureDefaults()
	return &Policy{conf: conf, placer: sched.Placer{Placement: conf.Placement}, dominant: byDominant(slots{})}
}

// Reset implements sched.Policy.
func (p *Policy) Reset(now int64, view sched.View) {
	p.clocks = make(map[string]*clock)
	for _, r := range p.rankers() {
		r.Reset(now, view)
	}
	p.look(view)
}

func (p *Policy) look(view sched.View) {
	p.placer.Reset()
	p.ledger.Reset(view.View)
	p.tree, p.jobs, p.line = newTree(p.conf.Allocations, p.seatPool), make(map[cluster.JobID]*entry), nil
	for j := range view.Jobs() {
		p.place(view.View, j.ID)
	}
	p.admit()
	for j := range view.Jobs() {
		p.settle(j.ID)
	}
}

// rankers are those of the configuration, in order.
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
	for _, ids := range [][]cluster.JobID{delta.Jobs, delta.Retired} {
		for _, id := range ids {
			p.place(view.View, id)
		}
	}
	if begun := p.begin(delta.Started); begun || len(delta.Jobs)+len(delta.Retired) > 0 {
		for _, e := range p.admit() {
			touched = append(touched, e.id)
		}
	}
	for _, id := range touched {
		p.settle(id)
	}
}

// settle counts what a job has and wants, and forgets one whose account is closed.
func (p *Policy) settle(id cluster.JobID) {
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

// NextWake implements sched.Policy: tasks may wait for machines for a while, and
// pools for their share.
func (p *Policy) NextWake() int64 { return p.wake }

// Decide implements sched.Policy.
func (p *Policy) Decide(now int64, view sched.View) (plan sched.Plan) {
	p.survey(view.View)
	if p.conf.Preemption || len(p.conf.Rankers) > 0 || view.Trace {
		p.divide()
	}
	round := p.placer.RoundWithin(now, view, p.room)
	p.now, p.view = now, view
	given := deal.Run(round, view.View, p.tree.root.seat, p.tree.everybody())
	plan, p.wake = round.Done()
	if view.Trace {
		plan.Decisions = append(p.shares(now), plan.Decisions...)
	}
	if p.conf.Preemption {
		var wake int64
		plan.Preempts, wake = p.preempt(now, view, given)
		p.wake = sched.Earliest(p.wake, wake)
	}
	return plan
}

// survey counts the slots of all machines. Orders may depend on how many there are.
func (p *Policy) survey(view cluster.View) {
	if all := p.ledger.Slots(view); all != p.slots {
		p.slots, p.dominant = all, byDominant(all)
		p.tree.root.uneven = true
		p.tree.root.seat.Reorder()
	}
}

// divide finds the fair share of each queue. That follows from what they want, and
// from all slots.
func (p *Policy) divide() {
	root := p.tree.root
	if !root.uneven {
		return
	}
	root.uneven = false
	for kind := range p.slots {
		root.share[kind] = float64(min(p.slots[kind], root.Max[kind]))
		root.divide(kind)
	}
}

// room is what may be given out of the free slots of a machine: none more than
// the load of the cluster asks for. Bundles need what they need.
func (p *Policy) room(m *cluster.Machine) (free locality.Slots) {
	root := p.tree.root
	for kind := range free {
		free[kind] = max(m.Free(cluster.Slot(kind)), 0)
		if load := p.conf.LoadMaxDiff + p.load(kind); load < 1 && root.bundled == 0 {
			limit := int(math.Ceil(load * float64(m.Slots[kind])))
			free[kind] = min(free[kind], max(limit-m.Used[kind], 0))
		}
	}
	return free
}

// load is how many slots are held or wanted for each that there is.
func (p *Policy) load(kind int) float64 {
	all := p.tree.root
	return float64(all.demand[kind]+all.leaving[kind]) / float64(max(p.slots[kind], 1))
}
