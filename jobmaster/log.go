package jobmaster

import "github.com/hammr/hammr/cluster"

// Log carries batches of entries, in one order, to every master of a cluster,
// and says which master leads.
type Log interface {
	// Propose hands a batch in and does not wait for it. Only the master that
	// leads proposes, and only one batch at a time: the next after this one has
	// come back. A batch comes back, unless Following does first: then it may
	// be lost, or may come later from somebody else's lead.
	Propose(batch []cluster.Entry)

	// Events yields what happens, in the order of the log. They are to be taken
	// without delay: nothing is committed meanwhile.
	Events() <-chan LogEvent
}

// LogEvent is something that a Log tells.
type LogEvent interface{ logEvent() }

// Committed is a batch to be applied.
type Committed struct{ Batch []cluster.Entry }

// Leading says that this master leads from now on. Whatever was committed under
// earlier leaders has been yielded before.
type Leading struct{ Term uint64 }

// Following says that this master leads no more. A master follows until it is
// told that it leads.
type Following struct{}

// SnapshotWanted asks for a copy of the state after the batches yielded so far.
// Answer has room for it.
type SnapshotWanted struct{ Answer chan<- *cluster.Snapshot }

// Restored is the state that replaces what was applied so far. From now on it is
// the receiver's.
type Restored struct{ State *cluster.State }

func (Committed) logEvent()      {}
func (Leading) logEvent()        {}
func (Following) logEvent()      {}
func (SnapshotWanted) logEvent() {}
func (Restored) logEvent()       {}
