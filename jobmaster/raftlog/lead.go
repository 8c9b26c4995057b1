package raftlog

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/jobmaster"
	"github.com/hashicorp/raft"
)

// leadership is what Raft says of this server's leads, and what the jobmaster
// has been told. Leads count from 1.
type leadership struct {
	mu struct {
		sync.RWMutex
		number uint64 // of the latest lead
		held   bool   // it lasts
	}
	changed    chan struct{} // holds a token when mu changed
	announced  atomic.Uint64 // lead that the jobmaster knows of; 0 while it follows
	announcing struct {
		sync.Mutex        // held while told changes and the event is handed over
		term       uint64 // of the lead told
		over       uint64 // the jobmaster will not hear of leads up to this one again
		seen       uint64 // latest term of a batch handed over
	}
}

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

func (l *leadership) current() (number uint64, held bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.mu.number, l.mu.held
}

func (l *leadership) holds(number uint64) bool {
	current, held := l.current()
	return held && current == number
}

// during calls f while the next lead cannot begin, and reports whether this one
// lasted for all we know. Whatever f puts into the log stands before the barrier
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

// drainNotify takes what Raft says, which waits for that, until open closes the
// channel.
func (l *Log) drainNotify() {
	for held := range l.notify {
		l.lead.set(held)
	}
}

// announceLeads tells the jobmaster of leads.
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

// announce brings the jobmaster up to what Raft says now.
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

// isNew reports whether the jobmaster has not heard of a lead yet.
func (l *leadership) isNew(number uint64) bool {
	l.announcing.Lock()
	defer l.announcing.Unlock()
	return number > l.announcing.over && l.announced.Load() == 0
}

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

func (l *Log) announceFollowing() {
	l.lead.announcing.Lock()
	defer l.lead.announcing.Unlock()
	l.announceFollowingLocked()
}

func (l *Log) announceFollowingLocked() {
	if told := l.lead.announced.Load(); told != 0 {
		l.lead.announcing.over = told
		l.lead.announced.Store(0)
		l.emit(jobmaster.Following{})
	}
}

// emitCommitted hands over what was committed in a term. When that is a later term than
// the one in which the jobmaster leads, another server has led, and the
// jobmaster hears so first, however late Raft tells us.
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

// catchUp waits until everything committed before a lead has been handed over.
// It returns the lead's term; ok is false when the lead is over.
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

// enqueueTimeout is how long Raft's loop may be busy before we look again
// whether the lead lasts.
const enqueueTimeout = 500 * time.Millisecond

// retryInterval is how long we wait before we try again what Raft refused.
const retryInterval = 20 * time.Millisecond

// neverEntered reports whether an entry is certainly not in the log, although
// the lead lasts.
func neverEntered(err error) bool {
	return errors.Is(err, raft.ErrEnqueueTimeout) || errors.Is(err, raft.ErrLeadershipTransferInProgress)
}

// waitRetry waits a little; it reports false when the log closes.
func (l *Log) waitRetry() bool {
	select {
	case <-time.After(retryInterval):
		return true
	case <-l.closing.Done():
		return false
	}
}
