package raftlog

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/jobmaster"
)

// silentLog returns a Log without Raft whose events are buffered.
func silentLog(t *testing.T) *Log {
	l := &Log{events: make(chan jobmaster.LogEvent, 100), lead: leadership{changed: make(chan struct{}, 1)}}
	l.closing, l.cancel = context.WithCancel(t.Context())
	l.fsm = &fsm{log: l, opened: make(chan struct{})}
	close(l.fsm.opened)
	return l
}

func (l *Log) checkEvents(t *testing.T, want ...string) {
	t.Helper()
	var got []string
	for len(l.events) > 0 {
		got = append(got, fmt.Sprintf("%T", <-l.events))
	}
	for i, name := range want {
		want[i] = "jobmaster." + name
	}
	if !slices.Equal(got, want) {
		t.Errorf("events are %v, want %v", got, want)
	}
}

// TestABatchOfAnotherLeaderEndsTheLeadFirst lets Raft commit a batch of another leader
// before Raft reports the end of the lead.
func TestABatchOfAnotherLeaderEndsTheLeadFirst(t *testing.T) {
	l := silentLog(t)
	l.emitCommitted(2, jobmaster.Committed{})
	l.lead.set(true)
	l.announceLeading(1, 3)
	l.emitCommitted(3, jobmaster.Committed{})
	l.emitCommitted(5, jobmaster.Committed{})
	l.checkEvents(t, "Committed", "Leading", "Committed", "Following", "Committed")
	if l.lead.isNew(1) || l.lead.during(1, func() {}) {
		t.Error("the lead is not over")
	}
	l.announce() // Raft reports no change.
	l.lead.set(false)
	l.announce()
	l.checkEvents(t)
}

func TestEndedLeadIsNotAnnounced(t *testing.T) {
	l := silentLog(t)
	l.lead.set(true)
	l.emitCommitted(7, jobmaster.Committed{})
	l.announceLeading(1, 6)
	l.lead.set(false)
	l.announceLeading(1, 8)
	l.lead.set(true)
	l.announceLeading(1, 8)
	l.checkEvents(t, "Committed")
	l.announceLeading(2, 8)
	l.lead.set(false)
	l.lead.set(true) // lost and won again before announce ran
	if l.lead.during(2, func() {}) {
		t.Error("a batch of the second lead enters the log in the third")
	}
	l.announceFollowing()
	l.announceFollowing()
	l.checkEvents(t, "Leading", "Following")
}
