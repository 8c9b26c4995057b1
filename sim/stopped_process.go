package sim

import "github.com/hammr/hammr/control"

// stoppedProcess is what a process that was stopped goes on with.
type stoppedProcess struct {
	depth     int             // by how many it is stopped; 0 when it runs
	remaining int64           // ms until then
	next      func()          // what is next, nil for nothing
	orders    []control.Order // that wait for it
}

// stopProcess stops the process of an attempt.
func (b *body) stopProcess(a *attempt) {
	a.stopped.depth++
	switch {
	case a.stopped.depth > 1:
	case !a.stalled:
		b.stall(a)
		a.stopped.remaining, a.stopped.next = 0, func() { b.proceed(a) }
	case a.nextPlanned == a.planned && a.nextAt > b.now:
		a.stopped.remaining, a.stopped.next = a.nextAt-b.now, a.next
		a.planned++
	default:
		a.stopped.next = nil
	}
}

// continueProcess has it go on, and do what it was told meanwhile.
func (b *body) continueProcess(a *attempt) {
	if a.stopped.depth--; a.stopped.depth > 0 || a.ended {
		return
	}
	was := a.stopped
	a.stopped = stoppedProcess{}
	if was.next != nil {
		b.planNext(a, b.now+was.remaining, was.next)
	}
	for _, o := range was.orders {
		b.deliver(o)
	}
}
