package raftlog

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// leadership records the leads of this server: in mu what Raft has reported last, and the lead
// that was announced to the jobmaster. Leads are numbered from 1.
//
//	Raft: becomes leader ──► mu.held ──► barrier passes ──► Leading, announced = number
//	Raft: steps down     ──► !mu.held ────────────────────► Following, announced = 0
//	a batch of a later term is committed ─────────────────► Following, announced = 0
//
// Raft reports a change of leader in another goroutine than committed entries, and may
// report it late or twice in a row without the change between them. The jobmaster must
// nevertheless see Leading, batches of that lead only, Following. So the number of the
// lead, not Raft's state of the moment, says whether a batch may enter the log, and
// announcing orders the events.
//
// Order of locks: announcing, then mu. Neither is held during a call of Raft, except
// that during holds mu for reading.
type leadership struct {
	mu struct {
		sync.RWMutex
		number uint64 // of the latest lead
		held   bool   // it lasts
	}
	changed    chan struct{} // holds a token when mu changed
	announced  atomic.Uint64 // lead that the jobmaster knows; 0 while it follows
	announcing struct {
		sync.Mutex        // held while announced changes and the event is emitted
		term       uint64 // of the announced lead
		over       uint64 // leads up to this one are not announced again
		seen       uint64 // latest term of an emitted batch
	}
}

// set records that Raft has become leader or stepped down, and wakes announceLeads. Two
// changes in a row leave one token: announce looks at the latest.
func (l *leadership) set(held bool) {
	l.mu.Lock()
	l.mu.held = held
	if held {
		l.mu.number++
	}
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default: // the token is there
	}
}

// current returns the latest lead, and whether it lasts as far as Raft has reported.
func (l *leadership) current() (number uint64, held bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.mu.number, l.mu.held
}

// holds reports whether a lead lasts as far as Raft has reported.
func (l *leadership) holds(number uint64) bool {
	current, held := l.current()
	return held && current == number
}

// during calls f while the next lead cannot begin. It returns false without calling f if
// this lead is known to be over. Whatever f puts into the log comes before the barrier
// of the next lead.
func (l *leadership) during(number uint64, f func()) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.mu.held || l.mu.number != number || l.announced.Load() != number {
		return false
	}
	f()
	return true
}

// drainNotify receives Raft's changes of leadership, for which Raft waits, until the
// channel is closed.
func (l *Log) drainNotify() {
	for held := range l.notify {
		l.lead.set(held)
	}
}

// announceLeads announces leads to the jobmaster until the log closes.
func (l *Log) announceLeads() {
	for {
		select {
		case <-l.lead.changed:
			l.announce()
		case <-l.closing.Done():
			return
		}
	}
}

// announce brings the jobmaster up to date with Raft.
func (l *Log) announce() {
	number, held := l.lead.current()
	if !held || l.lead.announced.Load() != number {
		l.announceFollowing()
	}
	if !held || !l.lead.isNew(number) {
		return
	}
	if term, ok := l.catchUp(number); ok {
		l.announceLeading(number, term)
	}
}

// isNew reports whether a lead was not announced yet.
func (l *leadership) isNew(number uint64) bool {
	l.announcing.Lock()
	defer l.announcing.Unlock()
	return number > l.announcing.over && l.announced.Load() == 0
}

// announceLeading emits Leading unless the lead is over meanwhile, or a batch of a
// later term has been emitted, which means that it is over.
func (l *Log) announceLeading(number, term uint64) {
	t := &l.lead.announcing
	t.Lock()
	defer t.Unlock()
	if !l.lead.holds(number) || t.seen > term {
		return
	}
	t.term = term
	l.peers.reset()
	l.lead.announced.Store(number)
	l.emit(jobmaster.Leading{Term: term})
}

// announceFollowing emits Following if the jobmaster leads.
func (l *Log) announceFollowing() {
	l.lead.announcing.Lock()
	defer l.lead.announcing.Unlock()
	l.announceFollowingLocked()
}

// announceFollowingLocked is announceFollowing for a caller that holds announcing. The
// lead that ends is never announced again.
func (l *Log) announceFollowingLocked() {
	if lead := l.lead.announced.Load(); lead != 0 {
		l.lead.announcing.over = lead
		l.lead.announced.Store(0)
		l.emit(jobmaster.Following{})
	}
}

// emitCommitted emits what was committed in a term. In a term later than that of the
// announced lead, another server has led. Then Following comes first, even if Raft has
// not reported the loss yet.
func (l *Log) emitCommitted(term uint64, event jobmaster.LogEvent) bool {
	t := &l.lead.announcing
	t.Lock()
	t.seen = max(t.seen, term)
	if term > t.term {
		l.announceFollowingLocked()
	}
	t.Unlock()
	return l.emit(event)
}

// catchUp waits until everything committed before a lead has been emitted. It returns
// the lead's term; ok is false if the lead is over.
//
// A barrier is an entry without content: when it is applied, everything before it has
// been. A lead whose term has changed meanwhile is another one, so the barrier is
// repeated.
func (l *Log) catchUp(number uint64) (term uint64, ok bool) {
	for l.lead.holds(number) {
		term := l.raft.CurrentTerm()
		err := l.raft.Barrier(enqueueTimeout).Error()
		if err == nil && l.raft.CurrentTerm() == term {
			return term, l.lead.holds(number)
		}
		if err != nil && !neverEntered(err) || !l.waitRetry() {
			return 0, false
		}
	}
	return 0, false
}

// enqueueTimeout is how long Raft's loop may be busy before we check again whether the
// lead lasts.
const enqueueTimeout = 500 * time.Millisecond

// retryInterval is the pause before a request that Raft refused is retried.
const retryInterval = 20 * time.Millisecond

// neverEntered reports whether an entry is certainly not in the log although the lead
// lasts.
func neverEntered(err error) bool {
	return errors.Is(err, raft.ErrEnqueueTimeout) || errors.Is(err, raft.ErrLeadershipTransferInProgress)
}

// waitRetry waits for retryInterval; it returns false if the log closes.
func (l *Log) waitRetry() bool { return syncutil.Sleep(l.closing, retryInterval) == nil }
