package raftlog

import (
	"sync"
	"time"

	"github.com/hashicorp/raft"
)

// peerHealth records which masters do not answer this one while it leads.
type peerHealth struct {
	mu struct {
		sync.Mutex
		silent map[string]bool
	}
}

// setSilent records whether a master answers heartbeats. The map contains only masters that
// have failed to answer at least once.
func (h *peerHealth) setSilent(id raft.ServerID, silent bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.mu.silent == nil {
		h.mu.silent = make(map[string]bool)
	}
	h.mu.silent[string(id)] = silent
}

// reset removes all records at the start of a lead.
func (h *peerHealth) reset() {
	h.mu.Lock()
	defer h.mu.Unlock()
	clear(h.mu.silent)
}

// unreachable reports whether the latest heartbeat to a master failed.
func (h *peerHealth) unreachable(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.mu.silent[id]
}

// observe watches for failed heartbeats and changes of the leader until the log closes. Raft drops an
// observation instead of waiting for the receiver; the next heartbeat makes another one.
func (l *Log) observe() {
	observations := make(chan raft.Observation, 64)
	observer := raft.NewObserver(observations, false, func(o *raft.Observation) bool {
		switch o.Data.(type) {
		case raft.FailedHeartbeatObservation, raft.ResumedHeartbeatObservation, raft.LeaderObservation:
			return true
		}
		return false
	})
	l.raft.RegisterObserver(observer)
	l.tasks.Go(func() {
		defer l.raft.DeregisterObserver(observer)
		for {
			select {
			case o := <-observations:
				switch about := o.Data.(type) {
				case raft.FailedHeartbeatObservation:
					l.peers.setSilent(about.PeerID, true)
				case raft.ResumedHeartbeatObservation:
					l.peers.setSilent(about.PeerID, false)
				case raft.LeaderObservation:
					l.noteLeader(about)
				}
			case <-l.closing.Done():
				return
			}
		}
	})
}

// noteLeader records what Raft has reported about the leader.
func (l *Log) noteLeader(about raft.LeaderObservation) {
	now := time.Now()
	l.changes.note(observed{
		at: now, term: l.raft.CurrentTerm(), leader: string(about.LeaderID), self: l.cfg.ID,
		silence: now.Sub(l.raft.LastContact()), timeout: l.cfg.ElectionTimeout,
	})
}
