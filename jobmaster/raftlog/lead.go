package raftlog

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// leadership records the leads of this server. mu guards what Raft has reported last.
// announced is the lead that was announced to the jobmaster. Leads are numbered from 1.
//
//	Raft: becomes leader ──► mu.held ──► barrier passes ──► Leading, announced = number
//	Raft: steps down     ──► !mu.held ────────────────────► Following, announced = 0
//	a batch of a later term is committed ─────────────────► Following, announced = 0
//
// Raft reports a change of leader in another goroutine than committed entries, and may
// report it late or twice in a row without the change between them. The jobmaster must
// nevertheless get Leading, then only batches of that lead, then Following. So the number
// of the lead decides whether a batch may enter the log; Raft's present state does not.
// The lock announcing orders the events.
//
// Order of locks: announcing, then mu. Neither is held during a call of Raft, except
// that during holds mu for reading.
type leadership struct {
	mu struct {
		sync.RWMutex
		number uint64 // number of the latest lead
		held   bool   // the latest lead is not over
	}
	changed    chan struct{} // contains a token after a change in mu
	announced  atomic.Uint64 // number of the lead that the jobmaster knows; 0 while it follows
	announcing struct {
		sync.Mutex        // held while announced changes and the event is emitted
		term       uint64 // term of the announced lead
		over       uint64 // leads up to this number are not announced again
		seen       uint64 // latest term of an emitted batch
	}
}

// set records that Raft has become leader or stepped down, and wakes announceLeads. Two
// changes in a row leave one token; announce then reads the latest state.
func (l *leadership) set(held bool) {
	l.mu.Lock()
	l.mu.held = held
	if held {
		l.mu.number++
	}
	l.mu.Unlock()
	select {
	case l.changed <- struct{}{}:
	default: // changed already contains a token
	}
}

// current returns the number of the latest lead, and whether Raft has not reported its end.
func (l *leadership) current() (number uint64, held bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.mu.number, l.mu.held
}

// holds reports whether a lead is the latest one and Raft has not reported its end.
func (l *leadership) holds(number uint64) bool {
	current, held := l.current()
	return held && current == number
}

// during calls f while the next lead cannot begin. If this lead is known to be over, it
// returns false and does not call f. Everything that f puts into the log comes before the
// barrier of the next lead.
func (l *leadership) during(number uint64, f func()) bool {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if !l.mu.held || l.mu.number != number || l.announced.Load() != number {
		return false
	}
	f()
	return true
}

// drainNotify receives Raft's changes of leadership until the channel is closed. Raft waits
// for the receiver.
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

// announce sends the jobmaster the changes of leadership that Raft has reported.
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

// announceLeading emits Leading, unless the lead is over in the meantime. It is also over if
// a batch of a later term has been emitted.
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

// announceFollowingLocked does the same as announceFollowing. The caller holds announcing.
// The ended lead is never announced again.
func (l *Log) announceFollowingLocked() {
	if lead := l.lead.announced.Load(); lead != 0 {
		l.lead.announcing.over = lead
		l.lead.announced.Store(0)
		l.emit(jobmaster.Following{})
	}
}

// emitCommitted emits an event that was committed in a term. If the term is later than the
// term of the announced lead, another server has led. Then Following is emitted first, even
// if Raft has not reported the loss yet.
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

// catchUp waits until all batches that were committed before a lead have been emitted. It
// returns the lead's term; ok is false if the lead is over.
//
// A barrier is an entry without content. When it is applied, all earlier entries have been
// applied. If the term changes in the meantime, the lead is a different one, so the barrier
// is repeated.
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

// enqueueTimeout is how long an entry waits for Raft's busy loop before catchUp or propose
// checks again whether the lead is over.
const enqueueTimeout = 500 * time.Millisecond

// retryInterval is the pause before a request that Raft refused is retried.
const retryInterval = 20 * time.Millisecond

// neverEntered reports whether err means that an entry is certainly not in the log, although
// the lead is not over.
func neverEntered(err error) bool {
	return errors.Is(err, raft.ErrEnqueueTimeout) || errors.Is(err, raft.ErrLeadershipTransferInProgress)
}

// waitRetry waits for retryInterval; it returns false if the log closes.
func (l *Log) waitRetry() bool { return syncutil.Sleep(l.closing, retryInterval) == nil }
