package task

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// This file has what quiesces an attempt: the orders, the gate for remote files, and the
// signals to record loops. live_inputs.go has how a checkpoint passes through Nodes that are
// joined by streams or memory, and preempt_decline.go what follows a decline.
//
//	          Suspend; no remote file is open
//	RUNNING ────────────────────────────────────► SUSPEND READY: the gate is blocked
//	 ▲ ▲ ▲ ◄────────────────── Resume ──────────── and the processes may stop anywhere
//	 │ │ │                                                    ▲
//	 │ │ │  Preempt, or Suspend while a remote file is open   │ declined, but a deferred
//	 │ │ └──────────────────────────────────┐                 │ Suspend is possible now
//	 │ │                                    ▼                 │
//	 │ └─ declined: no boundary in time ── REQUESTED ─────────┤
//	 │                                      │ a Node stops at a boundary: acceptCheckpoint
//	 │                                      ▼                 │
//	 │                                     ACCEPTED: the Nodes stop, in the order of the
//	 │                                      │ edges between them; no withdrawal any more
//	 │                                      ▼                 │
//	 └── declined: not written, no streams ─ WRITING ─────────┘
//	                                        │
//	                                        ▼
//	                                     Checkpointed; Finished with a shorter range when
//	                                     a map was split or truncated; Exited otherwise
//
// A boundary is a place between two records of a map, two key groups of a reduce, or
// two outputs that a reduce takes in. preempt_decline.go has what follows a decline.

// signals are orders to the record loops of an attempt's Nodes, to act between two records. An
// order raises a signal and then the flag of each Node, which the Node polls once a
// record (SignalFlag).
type signals struct {
	progress   atomic.Bool                  // a report is due
	split      atomic.Bool                  // publish the records read so far; another task reads the rest
	truncateAt atomic.Pointer[dag.Position] // end at the first record at or after this place; nil: no such order
	checkpoint atomic.Bool                  // write a checkpoint and end; written under mu
	alive      atomic.Bool                  // user code showed life since the last report

	mu struct {
		sync.Mutex
		nodes     []*atomic.Bool // the flag of each Node
		accepted  bool           // a Node has stopped for the checkpoint
		requested chan struct{}  // closed while a checkpoint is requested
	}
}

// init makes the signals ready for use.
func (s *signals) init() { s.mu.requested = make(chan struct{}) }

// add makes a Node poll, for the first time at its first record.
func (s *signals) add(n *NodeRun) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.signalled.Store(true)
	s.mu.nodes = append(s.mu.nodes, &n.signalled)
}

// raise raises a signal and makes all Nodes poll.
func (s *signals) raise(flag *atomic.Bool) {
	flag.Store(true)
	s.notify()
}

// notify makes all Nodes poll.
func (s *signals) notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notifyLocked()
}

// notifyLocked raises the flag of each Node.
func (s *signals) notifyLocked() {
	for _, flag := range s.mu.nodes {
		flag.Store(true)
	}
}

// endEarly reports whether a map is to end before the end of its range.
func (s *signals) endEarly() bool { return s.split.Load() || s.truncateAt.Load() != nil }

// clearEndEarly takes back orders that the map cannot obey.
func (s *signals) clearEndEarly() {
	s.split.Store(false)
	s.truncateAt.Store(nil)
}

// requestCheckpoint reports whether no checkpoint was requested before.
func (s *signals) requestCheckpoint() (first bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checkpoint.Load() {
		return false
	}
	s.checkpoint.Store(true)
	s.notifyLocked()
	close(s.mu.requested)
	return true
}

// checkpointRequested is closed when a checkpoint is requested.
func (s *signals) checkpointRequested() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.requested
}

// acceptCheckpoint reports whether a checkpoint is requested. If so, the request
// cannot be withdrawn any more. A Node calls it where it can stop.
func (s *signals) acceptCheckpoint() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checkpoint.Load() {
		s.mu.accepted = true
	}
	return s.mu.accepted
}

// withdrawCheckpoint takes back a request that no Node has accepted, and reports
// whether there was one.
func (s *signals) withdrawCheckpoint() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.accepted || !s.checkpoint.Load() {
		return false
	}
	s.clearCheckpointLocked()
	return true
}

// clearCheckpointLocked ends a request. Its channel is closed already, so the next request
// gets a new one.
func (s *signals) clearCheckpointLocked() {
	s.mu.accepted = false
	s.checkpoint.Store(false)
	s.mu.requested = make(chan struct{})
}

// decline takes back a checkpoint that could not be written, and a split that was to
// become one.
func (s *signals) decline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.checkpoint.Load() {
		s.clearCheckpointLocked()
	}
	s.split.Store(false)
}

// SignalFlag is a Node's flag that a signal waits, for its loops over records.
type SignalFlag struct{ raised *atomic.Bool }

// SignalFlag returns the flag that PollSignals, or PollProgress, lowers.
func (n *NodeRun) SignalFlag() SignalFlag { return SignalFlag{&n.signalled} }

// alwaysRaised is the flag of OrAlways.
var alwaysRaised atomic.Bool

func init() { alwaysRaised.Store(true) }

// OrAlways returns a flag that is always raised if always is true. A loop that has work to
// do at each record anyway uses it, so that other loops pay for one load alone.
func (f SignalFlag) OrAlways(always bool) SignalFlag {
	if always {
		return SignalFlag{&alwaysRaised}
	}
	return f
}

// Signalled reports whether a signal waits. It costs one atomic load.
func (f SignalFlag) Signalled() bool { return f.raised.Load() }

// Signalled returns the value of the Node's SignalFlag, for code that has no loop of its own.
func (n *NodeRun) Signalled() bool { return n.signalled.Load() }

// takeSignals lowers the Node's flag and reports which signals wait. Orders to end
// stay, since they end the attempt.
func (n *NodeRun) takeSignals() (progress, end bool) {
	n.signalled.Store(false) // before the signals are read, so that none is missed
	s := &n.Attempt.signals
	progress = s.progress.Swap(false)
	return progress, s.endEarly() || s.checkpoint.Load()
}

// repoll raises the Node's flag, so that the Node polls at its next record too.
func (n *NodeRun) repoll() { n.signalled.Store(true) }

// quiesceGate keeps two things apart: an attempt that is suspended, and files that it writes
// on other machines. Their servers give up a writer that is silent for long (an HDFS lease,
// say).
//
//	open ── block ──► blocked: no remote file can be opened; those that are open may close
//	  ▲                   │ isQuiet: no remote file is open
//	  │                   ▼
//	  └── unblock ── quiesced: the process may be stopped at any instruction
type quiesceGate struct {
	mu struct {
		sync.Mutex
		writers   int           // number of open remote files
		unblocked chan struct{} // closed by unblock; nil unless the gate is blocked
		deferred  int64         // number of the Suspend that was answered by a checkpoint; 0: none
	}
}

// block keeps remote files from being opened until unblock or resume.
func (q *quiesceGate) block() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.unblocked == nil {
		q.mu.unblocked = make(chan struct{})
	}
}

// tryQuiesce blocks the gate, unless a remote file is open: then it returns false and
// the gate is open.
func (q *quiesceGate) tryQuiesce() bool {
	if q.block(); q.isQuiet() {
		return true
	}
	q.unblock()
	return false
}

// resume opens the gate, and forgets a deferred order.
func (q *quiesceGate) resume() {
	q.mu.Lock()
	q.mu.deferred = 0
	q.mu.Unlock()
	q.unblock()
}

// unblock opens the gate for all that wait.
func (q *quiesceGate) unblock() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.unblocked != nil {
		close(q.mu.unblocked)
		q.mu.unblocked = nil
	}
}

// deferOrder notes a Suspend that cannot be obeyed while a remote file is open.
func (q *quiesceGate) deferOrder(number int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.deferred = number
}

// tryDeferred is tryQuiesce for the deferred order, and returns its number; 0 if there
// is none or a remote file is open.
func (q *quiesceGate) tryDeferred() int64 {
	q.mu.Lock()
	number := q.mu.deferred
	q.mu.Unlock()
	if number == 0 || !q.tryQuiesce() {
		return 0
	}
	return number
}

// isQuiet reports whether no remote file is open.
func (q *quiesceGate) isQuiet() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.mu.writers == 0
}

// tryOpen counts a remote file that is about to be opened. If the gate is blocked it
// counts none, and returns what is closed when the gate opens.
func (q *quiesceGate) tryOpen() (unblocked <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.mu.unblocked == nil {
		q.mu.writers++
		return nil
	}
	return q.mu.unblocked
}

// closed counts one remote file as closed.
func (q *quiesceGate) closed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.mu.writers--
}

// handleSuspend answers an order to get ready for suspension. Open outputs become pieces,
// which closes their remote files. If another remote file is open, such as a copy of an
// output, the answer is a checkpoint.
func (s *session) handleSuspend(order *taskproc.Suspend) {
	gate := &s.attempt.gate
	gate.block()
	if err := s.group.closePieces(false); err != nil {
		s.group.fail(err)
		return
	}
	if !gate.tryQuiesce() {
		gate.deferOrder(order.Number)
		s.handleCheckpoint()
		return
	}
	s.attempt.sendSuspendReady(order.Number)
}

// SuspendAndResume does to the outputs of the attempt what a suspension does to remote ones: what is
// open becomes a piece, and later records go to other files. It is for tests.
func (n *NodeRun) SuspendAndResume() error {
	n.Attempt.gate.block()
	defer n.Attempt.gate.unblock()
	return n.group.closePieces(true)
}

// closePieces closes the output files of all Nodes, local ones only if it is asked to. Before
// the group is laid out no Node has any.
func (g *groupRun) closePieces(local bool) error {
	if !g.laidOut.Load() {
		return nil
	}
	for _, n := range g.nodes {
		if err := n.files.closePieces(local); err != nil {
			return fmt.Errorf("output of a task that is to be suspended: %w", err)
		}
	}
	return nil
}

// sendSuspendReady answers the Suspend of that number. From then on the tasknode may stop
// the process.
func (a *Attempt) sendSuspendReady(number int64) {
	ready := &taskproc.SuspendReady{Number: number}
	_ = a.send(&taskproc.FromTask{Message: &taskproc.FromTask_SuspendReady{SuspendReady: ready}}) // an error: the tasknode is gone
}

// handleCheckpoint orders the Nodes to stop and the attempt to write a checkpoint. listen
// calls it. The request is declined if no Node comes to a boundary in time.
func (s *session) handleCheckpoint() {
	a := s.attempt
	if err := s.group.checkDiskSpace(); err != nil {
		a.declinePreemption((&unwrittenError{err}).Error(), a.gate.isQuiet())
		return
	}
	if !a.signals.requestCheckpoint() || a.Conf == nil {
		return
	}
	timeout := a.Conf.Duration(conf.BoundaryTimeout)
	if timeout == 0 || s.group.inGang() {
		return // other members of the gang may have stopped, and wait for this one
	}
	s.boundary.Stop()
	s.boundary = time.AfterFunc(timeout, func() {
		if a.signals.withdrawCheckpoint() {
			a.declinePreemption(fmt.Sprintf("no boundary to stop at within %v (%s)", timeout, conf.BoundaryTimeout), a.gate.isQuiet())
		}
	})
}
