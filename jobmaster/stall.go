package jobmaster

import (
	"time"

	"github.com/hammr/hammr/control"
)

// A tasknode is lost if a running loop has not received a report of it for TasknodeExpiry.
// A stalled loop receives nothing, so its stall is no silence of the tasknodes:
//
//	loop       ──run──┤    stall: SIGSTOP, frozen VM, slow call    ├─run──
//	heartbeats    │ │   │ │ │ │ │ │ │    wait in the inbox, or in sockets
//	verdict                                                        └─ not before TasknodeExpiry
//
// The loop therefore runs at least twice in each stallLimit, even if it has nothing to do. It
// notices that more time has passed and gives each tasknode another TasknodeExpiry. A shorter
// stall needs no more than an empty inbox: what arrived during it counts before a verdict.

// stallLimit returns the time after which a loop that has not run was stalled; 0 if
// tasknodes do not expire.
func (m *Master) stallLimit() time.Duration { return m.settings().TasknodeExpiry / 4 }

// reviewSilence reviews the tasknodes if that is due and the loop was not stalled.
//
// It reads the time once: a stall between the check and the verdict would count as silence.
func (m *Master) reviewSilence() {
	now := m.now()
	away := now - m.ranAt
	m.ranAt = now
	if limit := m.stallLimit().Milliseconds(); limit > 0 && away > limit {
		m.forgiveSilence(now, away)
	}
	if m.reviewAt != 0 && m.reviewAt <= now {
		for _, msg := range m.inbox.Take() {
			m.receive(msg)
		}
		m.reviewTasknodes(now)
	}
}

// forgiveSilence gives each tasknode a full TasknodeExpiry from now on, and each attempt the
// time that the loop was away, both in ms.
func (m *Master) forgiveSilence(now, away int64) {
	m.cfg.Logger.Warn("the loop was stalled; the silence of tasknodes counts from now on", "stall", time.Duration(away)*time.Millisecond)
	for _, n := range m.tasknodes {
		n.lastSeen = max(n.lastSeen, now)
	}
	m.events = append(m.events, control.Stalled{Millis: away})
}
