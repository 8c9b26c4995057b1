package jobmaster

import "github.com/hammr/hammr/cluster"

// Log replicates batches of entries, in one order, to every master of a cluster, and
// decides which master leads.
//
// A Log decides the order of commands and the leader, and nothing else: the state, and
// what commands mean, belong to the Master. Package raftlog has the Log of a cluster,
// package embedded one in memory.
type Log interface {
	// Propose submits a batch and does not wait for it. Only the leading master
	// proposes, one batch at a time: the next after this one was committed. Every batch
	// is committed unless Following is the next event: then it may be lost, or may be
	// committed later under another leader.
	Propose(batch []cluster.Entry)

	// Events yields events in the order of the log. They must be taken without delay:
	// nothing is committed meanwhile.
	Events() <-chan LogEvent
}

// LogEvent is an event of a Log.
type LogEvent interface{ logEvent() }

// Committed is a batch to apply.
type Committed struct{ Batch []cluster.Entry }

// Leading says that this master leads from now on. Everything committed under earlier
// leaders has been yielded before.
type Leading struct{ Term uint64 }

// Following says that this master does not lead. A master follows until it gets Leading.
type Following struct{}

// SnapshotWanted asks for a copy of the state after the batches yielded so far. Answer
// is buffered, so sending never waits.
type SnapshotWanted struct{ Answer chan<- *cluster.Snapshot }

// Restored replaces the state. The receiver owns the new one.
type Restored struct{ State *cluster.State }

func (Committed) logEvent()      {}
func (Leading) logEvent()        {}
func (Following) logEvent()      {}
func (SnapshotWanted) logEvent() {}
func (Restored) logEvent()       {}
