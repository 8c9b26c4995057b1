package raftlog

import (
	"fmt"
	"slices"
	"sync"
	"time"
)

// LeadChange is a change of the leader, as this master has seen it.
type LeadChange struct {
	At     time.Time
	Term   uint64
	Leader string        // id of the leader from then on
	Before string        // id of the leader before; "" for none since the start of this master
	Gap    time.Duration // time without a known leader; 0 for none
	Cause  string        // why the leader before did not lead any more, for people
}

// maxLeadChanges bounds the changes that a master keeps.
const maxLeadChanges = 256

// leadChanges has the latest changes of the leader. Raft reports the leader of a master, "" while it
// knows none:
//
//	m1 ──► "" : the cause is noted ──► m2 : a LeadChange from m1 to m2
type leadChanges struct {
	mu struct {
		sync.Mutex
		latest []LeadChange // the oldest first
		count  int64        // since the start of this master
		leader string       // the latest one
		lostAt time.Time    // when the leader was lost; zero if it was not
		cause  string       // of the loss
	}
}

// observed is a report of Raft about the leader.
type observed struct {
	at      time.Time
	term    uint64
	leader  string        // "" for none
	self    string        // id of this master
	silence time.Duration // time since the last message of the leader before
	timeout time.Duration // silence after which a follower becomes a candidate
}

// note adds what Raft has reported.
func (c *leadChanges) note(o observed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := &c.mu
	if m.lostAt.IsZero() && o.leader != m.leader {
		m.lostAt, m.cause = o.at, o.cause(m.leader)
	}
	if o.leader == "" {
		return
	}
	if o.leader != m.leader || o.term > c.termLocked() {
		change := LeadChange{At: o.at, Term: o.term, Leader: o.leader, Before: m.leader, Cause: m.cause}
		if !m.lostAt.IsZero() {
			change.Gap = o.at.Sub(m.lostAt)
		}
		m.latest = append(m.latest, change)
		m.latest = m.latest[max(0, len(m.latest)-maxLeadChanges):]
		m.count++
	}
	m.leader, m.lostAt, m.cause = o.leader, time.Time{}, ""
}

// termLocked returns the term of the latest change, 0 for none.
func (c *leadChanges) termLocked() uint64 {
	if n := len(c.mu.latest); n > 0 {
		return c.mu.latest[n-1].Term
	}
	return 0
}

// cause returns why a leader is lost.
func (o *observed) cause(before string) string {
	switch {
	case before == "":
		return "this master has started"
	case before == o.self:
		return "this master had no majority any more, or has transferred the lead"
	case o.silence >= o.timeout:
		return fmt.Sprintf("no message of %s for %v", before, o.silence.Round(time.Millisecond))
	}
	return fmt.Sprintf("%s has transferred the lead, or another master did not get its messages", before)
}

// LeadChanges returns the latest changes of the leader since the start of this master, the latest
// first, and the number of all.
func (l *Log) LeadChanges() ([]LeadChange, int64) {
	c := &l.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Clone(c.mu.latest)
	slices.Reverse(list)
	return list, c.mu.count
}
