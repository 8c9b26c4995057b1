package server_test

import (
	"slices"
	"sync"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster"
)

// sharedLog is the log of several masters in one process. The test decides which of them
// leads.
type sharedLog struct {
	mu      sync.Mutex
	members []*member
	leader  *member       // nil for none
	lost    chan struct{} // if it is not nil, proposals are dropped
}

// member is the log of one master.
type member struct {
	log    *sharedLog
	events chan jobmaster.LogEvent
}

// join adds the log of another master. Its channel buffers all that a test sends.
func (l *sharedLog) join() *member {
	m := &member{l, make(chan jobmaster.LogEvent, 10_000)}
	l.members = append(l.members, m)
	return m
}

// lead makes a member the leader; nil for none.
func (l *sharedLog) lead(m *member) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leader != nil {
		l.leader.events <- jobmaster.Following{}
	}
	if l.leader = m; m != nil {
		m.events <- jobmaster.Leading{}
	}
}

// leads returns the number of the leading member, -1 for none.
func (l *sharedLog) leads() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Index(l.members, l.leader)
}

// lose makes the log drop proposals, or not if lost is nil. Each makes lost ready.
func (l *sharedLog) lose(lost chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = lost
}

// Propose implements jobmaster.Log.
func (m *member) Propose(batch []cluster.Entry) {
	m.log.mu.Lock()
	defer m.log.mu.Unlock()
	if m.log.lost != nil {
		select {
		case m.log.lost <- struct{}{}:
		default:
		}
		return
	}
	if m.log.leader != m {
		return
	}
	for _, to := range m.log.members {
		to.events <- jobmaster.Committed{Batch: batch}
	}
}

// Events implements jobmaster.Log.
func (m *member) Events() <-chan jobmaster.LogEvent { return m.events }
