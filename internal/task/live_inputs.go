package task

import (
	"maps"
	"slices"
	"sync"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// liveInputs records how the live edges of a Node have ended: streams and shared memory, whose
// writers run at the same time. The goroutines that read the edges set it. The goroutines that
// report progress read it.
//
// A checkpoint spreads along these edges. A Node that reads files stops at a boundary, and
// ends what it sends with a mark. A Node that reads live edges continues until the marks, or
// ends, of all its writers have come. Then nothing is in flight, and it ends what it sends in
// the same way. So the checkpoints of a gang are consistent: each record that a Node has sent
// is in its reader's state.
//
//	map ══ records ══ mark ══►┐
//	map ══ records ══ end ═══►┴ sort ══ records ══ mark ══► reduce: stops at the mark
//
// A writer that ended for good is not started again by the attempt that resumes, so the
// checkpoint names it (liveStates).
type liveInputs struct {
	stopped bool // the Node stopped when it had received all; only its goroutine uses this

	mu struct {
		sync.Mutex
		checkpointed map[int]bool  // edges whose writers have all ended; true if some ended with a mark
		finished     map[int][]int // by edge: numbers of writers that ended for good in this attempt
	}
}

// ended notes that all writers along an edge have ended. finished are those that ended
// for good; checkpointed says that others ended with a mark.
func (l *liveInputs) ended(edge int, checkpointed bool, finished []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.checkpointed == nil {
		l.mu.checkpointed, l.mu.finished = make(map[int]bool), make(map[int][]int)
	}
	l.mu.checkpointed[edge], l.mu.finished[edge] = checkpointed, finished
}

// hasCheckpointed reports whether any writer ended with a mark.
func (l *liveInputs) hasCheckpointed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(slices.Collect(maps.Values(l.mu.checkpointed)), true)
}

// hasFinished reports whether all writers along an edge have ended for good.
func (l *liveInputs) hasFinished(edge int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	checkpointed, ended := l.mu.checkpointed[edge]
	return ended && !checkpointed
}

// isFinishedWriter reports whether a writer has ended for good in this attempt.
func (l *liveInputs) isFinishedWriter(edge, writer int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.mu.finished[edge], writer)
}

// reset forgets all ends, for a Node that starts over from its state in memory.
func (l *liveInputs) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped, l.mu.checkpointed, l.mu.finished = false, nil, nil
}

// liveEnded notes how an edge has ended. The Node polls, as it may be able to stop now.
func (n *NodeRun) liveEnded(edge int, checkpointed bool, finished []int) {
	n.live.ended(edge, checkpointed, finished)
	n.repoll()
}

// allLiveFinished reports whether the Node has received all that it reads live.
func (n *NodeRun) allLiveFinished() bool {
	return !slices.ContainsFunc(n.inputs, func(c Channel) bool { return c.isLive() && !n.live.hasFinished(c.Edge) })
}

// finishedBefore reports whether a writer had finished before this attempt.
func (n *NodeRun) finishedBefore(edge, writer int) bool {
	return slices.ContainsFunc(n.resumed.GetLive(), func(l *taskproc.LiveInput) bool {
		return int(l.Edge) == edge && slices.Contains(l.Finished, int32(writer))
	})
}

// unfinishedPeers returns the writers along an edge that had not finished before this
// attempt.
func (n *NodeRun) unfinishedPeers(c Channel) (peers []int) {
	for _, peer := range c.Peers {
		if !n.finishedBefore(c.Edge, peer) {
			peers = append(peers, peer)
		}
	}
	return peers
}

// awaitsStreams reports whether a stream to the Node has not ended for good. A Node with
// such a stream cannot run again in this attempt: the stream is closed at both ends.
func (n *NodeRun) awaitsStreams() bool {
	for _, c := range channelsOf(n.inputs, dag.ChannelTCP) {
		if slices.ContainsFunc(n.unfinishedPeers(c), func(peer int) bool { return !n.live.isFinishedWriter(c.Edge, peer) }) {
			return true
		}
	}
	return false
}

// liveStates returns the live edges of which some writers have finished, in the order of the
// graph, for the checkpoint.
func (n *NodeRun) liveStates() (states []*taskproc.LiveInput) {
	for _, c := range n.inputs {
		var finished []int32
		for _, peer := range c.Peers {
			if n.finishedBefore(c.Edge, peer) || n.live.isFinishedWriter(c.Edge, peer) {
				finished = append(finished, int32(peer))
			}
		}
		if c.isLive() && len(finished) > 0 {
			states = append(states, &taskproc.LiveInput{Edge: int32(c.Edge), Finished: finished})
		}
	}
	return states
}
