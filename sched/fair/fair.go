package fair

import (
	"maps"
	"math"
	"slices"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
)

// Policy is the fair scheduler.
type Policy struct {
	conf   Config
	placer sched.Placer
	wake   int64

	tree *tree
	jobs map[cluster.JobID]*entry
	line []*entry // active jobs, by entry.compare

	slots    slots // of all machines
	surveyed bool  // slots is up to date

	clocks map[string]*clock // by name of queue
}

// New is a fair scheduler. It is to be Reset before it is asked anything.
func New(conf Config) *Policy {
	conf.ensureDefaults()
	return &Policy{conf: conf, placer: sched.Placer{Placement: conf.Placement}}
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
	p.tree, p.jobs, p.line, p.surveyed = newTree(p.conf.Allocations), make(map[cluster.JobID]*entry), nil, false
	for j := range view.Jobs() {
		p.place(view.View, j.ID)
	}
	for m := range view.Machines() {
		for _, a := range m.Attempts {
			p.hear(view.View, a.ID)
		}
	}
	p.admit()
	for j := range view.Jobs() {
		p.settle(view.View, j.ID)
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
	p.surveyed = p.surveyed && len(delta.Machines) == 0
	touched := make(map[cluster.JobID]bool)
	for _, ids := range [][]cluster.JobID{delta.Jobs, delta.Retired} {
		for _, id := range ids {
			p.place(view.View, id)
			touched[id] = true
		}
	}
	for _, ids := range [][]cluster.AttemptID{delta.Started, delta.Ended, delta.Asked, delta.Freed, delta.Published, delta.Revoked} {
		for _, id := range ids {
			p.hear(view.View, id)
			touched[id.Task.Job] = true
		}
	}
	if len(delta.Jobs)+len(delta.Retired) > 0 {
		for _, e := range p.admit() {
			touched[e.id] = true
		}
	}
	for id := range touched {
		p.settle(view.View, id)
	}
}

// settle counts what a job has and wants, and forgets one that has nothing and
// never will.
func (p *Policy) settle(view cluster.View, id cluster.JobID) {
	e := p.jobs[id]
	if e == nil {
		return
	}
	p.count(view, e)
	if !e.active && len(e.attempts) == 0 {
		p.remove(e)
		delete(p.jobs, id)
		p.tree.prune(e.queue)
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
	d := newDeal(p, now, view)
	d.run(round)
	plan, p.wake = round.Done()
	if view.Trace {
		plan.Decisions = append(p.shares(now), plan.Decisions...)
	}
	if p.conf.Preemption {
		var wake int64
		plan.Preempts, wake = p.preempt(now, view, d)
		p.wake = sched.Earliest(p.wake, wake)
	}
	return plan
}

// survey counts the slots of all machines, when they have changed.
func (p *Policy) survey(view cluster.View) {
	if p.surveyed {
		return
	}
	p.slots, p.surveyed = slots{}, true
	for m := range view.Machines() {
		p.slots = p.slots.Plus(m.Slots)
	}
}

// divide finds the fair share of each queue.
func (p *Policy) divide() {
	root := p.tree.root
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
