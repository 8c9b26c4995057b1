package chronos

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// What follows is what the policy inside can do beside giving out slots, and what
// is said where it cannot. Explain has something of its own to add.

// Unwrap implements sched.Wrapper.
func (p *Policy) Unwrap() sched.Policy { return p.conf.Inner }

// Precedes implements sched.JobComparer as the policy inside does.
func (p *Policy) Precedes(now int64, view sched.View, kind cluster.Slot, a, b *cluster.Job) bool {
	return p.inside.Precedes(now, view, kind, a, b)
}

// Pools implements sched.PoolReporter.
func (p *Policy) Pools(now int64, view sched.View) []sched.Pool {
	if inner, ok := p.conf.Inner.(sched.PoolReporter); ok {
		return inner.Pools(now, view)
	}
	return nil
}

// Limit implements sched.JobLimiter.
func (p *Policy) Limit(job *cluster.Job) sched.Slots {
	if inner, ok := p.conf.Inner.(sched.JobLimiter); ok {
		return inner.Limit(job)
	}
	return sched.Slots{sched.Unlimited, sched.Unlimited}
}

// TransferFrom implements sched.StateTransfer: promises stand, those that came to nothing too, or
// a task would have another attempt preempted for it.
func (p *Policy) TransferFrom(from sched.Policy) {
	if before, ok := from.(*Policy); ok {
		p.promises, p.asked = before.promises, before.asked
	}
	if inner, ok := p.conf.Inner.(sched.StateTransfer); ok {
		inner.TransferFrom(from)
	}
}
