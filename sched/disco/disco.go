package disco

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/ledger"
	"github.com/hammr/hammr/sched/placement"
	"github.com/hammr/hammr/sched/sharetree"
)

// Policy is Disco's scheduler (its paper, section 3). The root of the share tree has all
// jobs directly below it: Disco has no pools.
type Policy struct {
	conf   Config
	placer placement.Placer // chooses machines
	ledger ledger.Ledger    // what each job has and wants
	wake   int64            // when Decide may find more although nothing changes, ms; 0 is never

	jobs    []*job        // jobs that are not over, in order of submission
	slots   cluster.Slots // slots of all machines when shares were computed
	divided bool          // shares are up to date for slots

	jobIndex
	root *sharetree.Entry // the order of all jobs

	requested map[cluster.AttemptID]request // slots that the last plan takes and no command has confirmed yet, by victim
}

// New returns the scheduler. Call Reset before any other method.
func New(conf Config) *Policy {
	conf.ensureDefaults()
	return &Policy{conf: conf, placer: placement.Placer{Placement: conf.Placement}}
}

// Reset implements sched.Policy.
func (p *Policy) Reset(_ int64, view sched.View) {
	p.placer.Reset()
	p.ledger.Reset(view.View)
	p.jobs, p.divided, p.requested = nil, false, nil
	p.jobIndex, p.root = jobIndex{betweenStages: make(map[*job]bool)}, newRoot()
	for _, a := range p.ledger.Accounts() {
		p.update(view.View, a.Job)
	}
}

// Observe implements sched.Policy.
func (p *Policy) Observe(_ int64, view sched.View, delta cluster.Delta) {
	p.placer.Observe(view.View, delta)
	for _, id := range p.ledger.Observe(view.View, delta) {
		p.update(view.View, id)
	}
	for id := range p.requested {
		p.confirm(view.View, id)
	}
}

// NextWake implements sched.Policy: tasks may wait for machines, slots may be reserved
// for a job between two stages, and a new job may wait for progress reports of its
// victims.
func (p *Policy) NextWake() int64 { return p.wake }

// Decide implements sched.Policy.
func (p *Policy) Decide(now int64, view sched.View) (plan sched.Plan) {
	p.computeShares(view.View)
	kept, until := p.reserve(now, view.View)
	round := p.placer.RoundWithin(now, view, kept.usableSlots(view.View))
	given := sharetree.Allocate(round, view.View, p.root, p.wanting())
	plan, p.wake = round.Finish()
	if view.Trace {
		plan.Decisions = append(p.shares(now), plan.Decisions...)
	}
	var retry int64
	plan.Preempts, retry = p.preempt(now, view, given)
	p.wake = sched.Earliest(p.wake, sched.Earliest(until, retry))
	return plan
}

// shares returns the shares of all jobs.
func (p *Policy) shares(now int64) (out []sched.Decision) {
	for _, j := range p.jobs {
		for kind, n := range j.share {
			out = append(out, sched.Decision{
				At: now, Kind: sched.DecisionShare, Job: j.Job, Slot: cluster.Slot(kind), Slots: j.Running[kind], Share: float64(n),
			})
		}
	}
	return out
}

// Config configures the scheduler.
type Config struct {
	Placement sched.Placement
	Preempt   preempt.Config // how slots are taken from running tasks

	// ReserveMillis is how long a slot that has come free is reserved for a job between
	// two stages, in ms. 0 is twice Preempt.SlotFreeLatency, the time until the master
	// knows that a slot is free, but at most MaxReserveMillis. The setting is
	// hammr.disco.transition.hold.
	ReserveMillis int64
}

// MaxReserveMillis limits the default of Config.ReserveMillis.
const MaxReserveMillis = 10_000

func (c *Config) ensureDefaults() {
	if c.ReserveMillis <= 0 {
		c.ReserveMillis = min(MaxReserveMillis, 2*c.Preempt.WithDefaults().SlotFreeLatency)
	}
}
