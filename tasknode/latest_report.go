package tasknode

import (
	"sync"

	"github.com/hammr/hammr/internal/rpc/wire"
)

// latestReport is the latest report of one kind that a task has sent and the loop has not
// taken. A task may send reports faster than the loop takes them, so no others wait.
type latestReport struct {
	mu     sync.Mutex
	report *wire.Report // nil if none waits
}

// put replaces the waiting report. If there is none, it makes the loop call take with the
// report that is the latest by then.
func (l *latestReport) put(a *attempt, r *wire.Report, take func(*wire.Report)) {
	r.Machine, r.AttemptId = a.cfg.Name, a.start.AttemptId
	l.mu.Lock()
	earlier := l.report
	if r.GetProgress() != nil {
		keepFetched(earlier.GetProgress(), r.GetProgress())
	}
	l.report = r
	l.mu.Unlock()
	if earlier != nil {
		return
	}
	a.daemon.inbox.Put(func() {
		l.mu.Lock()
		latest := l.report
		l.report = nil
		l.mu.Unlock()
		take(latest)
	})
}

// forwardDecline sends the master that a task has declined a preemption. A task declines each
// order at most once; more reports are dropped. The loop calls it.
func (a *attempt) forwardDecline(r *wire.Report) {
	if a.declines >= a.preemptions {
		return
	}
	a.declines++
	a.cfg.Logger.Warn("task declined preemption", "attempt", a.start.AttemptId, "reason", r.GetPreemptionDeclined().GetCause())
	a.daemon.send(r)
}
