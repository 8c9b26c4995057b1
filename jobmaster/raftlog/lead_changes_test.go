package raftlog

import (
	"strings"
	"testing"
	"time"
)

// TestLeadChangesHaveCauses reports leaders as Raft does to master m2.
func TestLeadChangesHaveCauses(t *testing.T) {
	var l Log
	start := time.UnixMilli(1_763_700_000_000)
	second := 0
	report := func(leader string, term uint64, silence time.Duration) {
		second++
		l.changes.note(observed{start.Add(time.Duration(second) * time.Second), term, leader, "m2", silence, 500 * time.Millisecond})
	}
	report("m1", 1, 0)
	report("m1", 1, 0) // once more
	report("", 1, 700*time.Millisecond)
	report("", 2, 900*time.Millisecond)
	report("m2", 2, 0)
	report("", 2, 0)
	report("m3", 3, 0)
	report("m1", 4, 10*time.Millisecond) // without a time between
	changes, count := l.LeadChanges()
	if len(changes) != 4 || count != 4 {
		t.Fatalf("%d changes, %d counted: %+v", len(changes), count, changes)
	}
	for i, want := range []struct {
		leader, before, cause string
		term                  uint64
		gap                   time.Duration
	}{
		{"m1", "m3", "m3 has transferred the lead", 4, 0},
		{"m3", "m2", "this master had no majority any more", 3, time.Second},
		{"m2", "m1", "no message of m1 for 700ms", 2, 2 * time.Second},
		{"m1", "", "this master has started", 1, 0},
	} {
		if c := changes[i]; c.Leader != want.leader || c.Before != want.before || c.Term != want.term || c.Gap != want.gap || !strings.HasPrefix(c.Cause, want.cause) {
			t.Errorf("change %d is %+v, want %+v", i, c, want)
		}
	}
	for term := range uint64(300) {
		report("m1", term+5, 0)
	}
	if changes, count = l.LeadChanges(); len(changes) != maxLeadChanges || count != 304 || changes[0].Term != 304 {
		t.Errorf("%d changes, %d counted, the latest %+v", len(changes), count, changes[0])
	}
}
