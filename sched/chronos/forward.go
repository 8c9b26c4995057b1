package chronos

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
)

// This file forwards the optional interfaces of the wrapped policy, with defaults for those
// that it does not implement. Explain is in explain.go, since it adds details of its own.

// Unwrap implements sched.Wrapper.
func (p *Policy) Unwrap() sched.Policy { return p.conf.Inner }

// Precedes implements sched.JobComparer as the wrapped policy does.
func (p *Policy) Precedes(now int64, view sched.View, kind cluster.Slot, a, b *cluster.Job) bool {
	return p.comparer.Precedes(now, view, kind, a, b)
}

// Pools implements sched.PoolReporter.
func (p *Policy) Pools(now int64, view sched.View) []sched.Pool {
	return sched.PoolsOf(p.conf.Inner, now, view)
}

// Limit implements sched.JobLimiter.
func (p *Policy) Limit(job *cluster.Job) cluster.Slots {
	return sched.LimitOf(p.conf.Inner, job)
}

// WaitClass implements sched.WaitClassifier.
func (p *Policy) WaitClass(job *cluster.Job, kind cluster.Slot) sched.WaitClass {
	return sched.WaitClassOf(p.conf.Inner, job, kind)
}

// TransferFrom implements sched.StateTransfer. It keeps void promises too, since otherwise
// a task could preempt a second attempt.
func (p *Policy) TransferFrom(from sched.Policy) {
	if before, ok := from.(*Policy); ok {
		p.promises, p.requested = before.promises, before.requested
	}
	if inner, ok := p.conf.Inner.(sched.StateTransfer); ok {
		inner.TransferFrom(from)
	}
}
