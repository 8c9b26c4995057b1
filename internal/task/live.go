package task

import (
	"slices"
	"sync"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/checkpoint"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle"
)

// A pause travels along streams and through memory. Nodes that read files stop between
// two records or groups, and end what they send with a mark that says so. Whoever reads
// that goes on until the marks, or ends, of all its writers have come, so that nothing
// is under way any more, and ends what it sends itself in the same way. So the states of
// all Nodes are those of one cut through the work of the group, and of the gang that it
// may be in: each record that a Node has sent has come to its readers' states.

// liveInputs are the edges by which a Node reads what others send at the same time.
type liveInputs struct {
	stopped bool // the Node stopped when it had received all; its goroutine's

	mu           sync.Mutex
	checkpointed map[int]bool  // by edge whose writers have all ended: some are to go on later
	finished     map[int][]int // by edge: numbers of writers that have ended well in this attempt
}

// ended notes that all writers along an edge have ended, for now where halted says so;
// over are those that have not ended for now.
func (l *liveInputs) ended(edge int, halted bool, over []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.checkpointed == nil {
		l.checkpointed, l.finished = make(map[int]bool), make(map[int][]int)
	}
	l.checkpointed[edge], l.finished[edge] = halted, over
}

// hasCheckpointed reports whether anything has ended for now.
func (l *liveInputs) hasCheckpointed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, halted := range l.checkpointed {
		if halted {
			return true
		}
	}
	return false
}

// hasFinished reports whether an edge has ended for good.
func (l *liveInputs) hasFinished(edge int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	halted, ended := l.checkpointed[edge]
	return ended && !halted
}

func (l *liveInputs) isFinishedWriter(edge, writer int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Contains(l.finished[edge], writer)
}

// reset begins anew.
func (l *liveInputs) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped, l.checkpointed, l.finished = false, nil, nil
}

// isLive reports whether both ends of a channel are at work at once.
func (c Channel) isLive() bool { return c.Kind != dag.ChannelFile }

// liveEnded notes how an edge has ended, and has the Node look whether it is to stop.
func (n *Node) liveEnded(edge int, halted bool, over []int) {
	n.live.ended(edge, halted, over)
	n.attendAgain()
}

// allLiveFinished reports whether all has come that the Node reads live.
func (n *Node) allLiveFinished() bool {
	return !slices.ContainsFunc(n.inputs, func(c Channel) bool { return c.isLive() && !n.live.hasFinished(c.Edge) })
}

// finishedBefore reports whether a writer had ended before this attempt.
func (n *Node) finishedBefore(edge, writer int) bool {
	return slices.ContainsFunc(n.resumed.GetLive(), func(l *taskproc.LiveInput) bool {
		return int(l.Edge) == edge && slices.Contains(l.Finished, int32(writer))
	})
}

// unfinishedPeers are the writers along an edge that had not ended before this attempt.
func (n *Node) unfinishedPeers(c Channel) (peers []int) {
	for _, peer := range c.Peers {
		if !n.finishedBefore(c.Edge, peer) {
			peers = append(peers, peer)
		}
	}
	return peers
}

// awaitsStreams reports whether a stream that came to the Node has not ended for good.
func (n *Node) awaitsStreams() bool {
	for _, c := range channelsOf(n.inputs, dag.ChannelTCP) {
		if slices.ContainsFunc(n.unfinishedPeers(c), func(peer int) bool { return !n.live.isFinishedWriter(c.Edge, peer) }) {
			return true
		}
	}
	return false
}

// liveStates are the edges of which some writers have ended, in order.
func (n *Node) liveStates() (states []*taskproc.LiveInput) {
	for _, c := range n.inputs {
		var over []int32
		for _, peer := range c.Peers {
			if n.finishedBefore(c.Edge, peer) || n.live.isFinishedWriter(c.Edge, peer) {
				over = append(over, int32(peer))
			}
		}
		if c.isLive() && len(over) > 0 {
			states = append(states, &taskproc.LiveInput{Edge: int32(c.Edge), Finished: over})
		}
	}
	return states
}

// Runs are what a Node that sorts what comes live had in files at the pause that it
// goes on from.
func (n *Node) Runs() []shuffle.MergeInputState { return checkpoint.MergeStates(n.resumed.GetMerge()) }

// KeepRuns says what such a Node has in files when it is paused, which stay.
func (n *Node) KeepRuns(runs []shuffle.MergeInputState) { n.liveRuns = runs }
