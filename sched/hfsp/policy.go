package hfsp

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/placement"
	"github.com/hammr/hammr/sched/victim"
)

// Policy is HFSP for the whole cluster.
type Policy struct {
	model
	placer placement.Placer
	wake   int64
	users  users
	full   [2]bool // by kind: no more attempts are suspended until fewer are (isFull)

	claimedAt int64 // when slots were last taken from others, if any had to be
}

// New returns HFSP. Call Reset before any other method.
func New(conf Config) *Policy {
	conf.ensureDefaults()
	return &Policy{model: model{conf: conf}, placer: placement.Placer{Placement: conf.Placement}}
}

// Reset implements sched.Policy.
func (p *Policy) Reset(_ int64, view sched.View) {
	p.placer.Reset()
	p.model.reset(view.View)
	p.users.reset(p.conf.ShareMillis)
	for j := range view.Jobs() {
		p.countUser(view.View, j.ID)
	}
	for kind := range p.full {
		p.full[kind] = p.queues[kind].suspended > p.lowWater(kind)
	}
}

// Observe implements sched.Policy.
func (p *Policy) Observe(now int64, view sched.View, delta cluster.Delta) {
	p.placer.Observe(view.View, delta)
	for _, id := range p.model.observe(now, view.View, delta) {
		p.countUser(view.View, id)
	}
}

// NextWake implements sched.Policy: tasks may wait for machines, and jobs for the time
// at which they may take slots from others.
func (p *Policy) NextWake() int64 { return p.wake }

// claimMillis is for how long slots are given out at the ends of attempts without taking slots from
// others, which needs a state that shows the ends.
const claimMillis = 200

// OrderIsStatic implements sched.StaticOrder. The order is that of sizes, which is static, as long as no
// user is owed its share, no late phases share slots, and samples may have more slots.
func (p *Policy) OrderIsStatic(now int64) bool {
	for kind := range p.queues {
		q, k := &p.queues[kind], cluster.Slot(kind)
		late := 0
		for range p.late(now, p.inLine(k).wanting) {
			if late++; late > 1 {
				return false
			}
		}
		most := p.conf.trainSlots(k, int(p.virtual[kind].slots))
		if most > 0 && q.samples >= most && len(q.trainees) > 0 || len(p.users.owed(now, k)) > 0 {
			return false
		}
	}
	return now-p.claimedAt < claimMillis
}

// Decide implements sched.Policy.
func (p *Policy) Decide(now int64, view sched.View) (plan sched.Plan) {
	projectSizes := p.projectSizes(now, view)
	var shareWake int64
	for kind := range p.queues {
		shareWake = sched.Earliest(shareWake, p.users.refresh(now, cluster.Slot(kind), p.virtual[kind].slots))
	}
	round := p.placer.Round(now, view)
	for kind := range p.queues {
		if p.queues[kind].wantingCount > 1 {
			round.DisableLocalityWait(cluster.Slot(kind))
		}
	}
	d := allocator{policy: p, now: now, round: round, made: make(map[*phase]bool)}
	for kind := range p.queues {
		d.run(cluster.Slot(kind))
	}
	plan, p.wake = round.Finish()
	p.wake = sched.Earliest(p.wake, shareWake)
	if view.Trace {
		plan.Decisions = append(p.shares(now), plan.Decisions...)
	}
	if view.IsFreeing() {
		return plan
	}
	p.claimedAt = now
	finder := &victim.Finder{Now: now, View: view, Preempt: p.conf.Preempt}
	for kind := range p.queues {
		if !p.conf.preempts(cluster.Slot(kind)) {
			continue
		}
		c := newClaims(p, now, view, cluster.Slot(kind), plan)
		plan.Preempts = append(plan.Preempts, c.run(finder)...)
		if c.lacking {
			p.wake = sched.Earliest(p.wake, sched.Earliest(projectSizes, sched.Earliest(c.wake, finder.Wake)))
		}
	}
	return plan
}
