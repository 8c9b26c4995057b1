package jobmaster

import "github.com/hammr/hammr/cluster"

// Log replicates batches of entries, in one order, to every master of a cluster, and decides
// which master leads.
//
// A Log decides only the order of commands and the leader. The state and the meaning of
// commands belong to the Master. Package raftlog has the Log of a cluster, and package
// embedded has a Log in memory.
type Log interface {
	// Propose submits a batch and does not wait for it. Only the leading master proposes. It
	// proposes one batch at a time, and the next batch after this one was committed. Every
	// batch is committed, unless the next event is Following. In that case the batch may be
	// lost, or may be committed later under another leader.
	Propose(batch []cluster.Entry)

	// Events yields events in the order of the log. The receiver must take them without
	// delay, because nothing is committed while an event waits.
	Events() <-chan LogEvent
}

// LogEvent is an event of a Log.
type LogEvent interface{ logEvent() }

// Committed is a batch to apply.
type Committed struct {
	Batch []cluster.Entry
	Index uint64 // of the batch in the log; 0 if the log has no indexes
}

// Leading says that this master leads from now on. All batches that were committed under
// earlier leaders have been yielded before it.
type Leading struct{ Term uint64 }

// Following says that this master does not lead. A master follows until it gets Leading.
type Following struct{}

// SnapshotWanted requests a copy of the state after the batches yielded so far. Answer is
// buffered, so sending to it never waits.
type SnapshotWanted struct{ Answer chan<- *cluster.Snapshot }

// Restored replaces the state. The new state belongs to the receiver.
type Restored struct{ State *cluster.State }

func (Committed) logEvent()      {}
func (Leading) logEvent()        {}
func (Following) logEvent()      {}
func (SnapshotWanted) logEvent() {}
func (Restored) logEvent()       {}
