package task

import (
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/taskproc"
)

// outputBoard has the outputs that can be read, edge by edge. listen posts the messages of
// the tasknode. Reduces subscribe to edges at any time, and several may subscribe to one
// edge.
//
//	Outputs message ──post──► readable, by edge ──subscribe──► pending of a new subscription
//	                    └───────────────────────────────────► pending of each subscription
type outputBoard struct {
	mu struct {
		sync.Mutex
		readable map[int]*taskproc.Outputs // all outputs that can be read, by edge
		readers  []*subscription           // open subscriptions
	}
}

// subscription holds the changes that one reduce has not taken.
type subscription struct {
	edges   []int         // edges that the reduce reads
	ready   chan struct{} // has a token if there may be changes
	board   *outputBoard
	pending map[int]*taskproc.Outputs // changes by edge; guarded by the board's lock
}

// post adds a message. The board owns it from then on and does not change it, since
// several readers share it.
func (b *outputBoard) post(update *taskproc.Outputs) {
	for _, o := range update.Outputs {
		o.Edge = update.Edge
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	edge := int(update.Edge)
	if b.mu.readable == nil {
		b.mu.readable = make(map[int]*taskproc.Outputs)
	}
	b.mu.readable[edge] = mergeOutputs(b.mu.readable[edge], update)
	b.mu.readable[edge].Revoked = nil // later subscribers never saw what they revoke
	for _, s := range b.mu.readers {
		if slices.Contains(s.edges, edge) {
			s.pending[edge] = mergeOutputs(s.pending[edge], update)
			s.notify()
		}
	}
}

// compare reports whether an output of an edge can be read that none of these attempts wrote, and whether the
// outputs of all writers can be read.
func (b *outputBoard) compare(edge int, writers map[string]bool) (other, complete bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.mu.readable[edge]
	if all == nil {
		return false, false
	}
	other = slices.ContainsFunc(all.Outputs, func(o *taskproc.MapOutput) bool { return !writers[o.Attempt] })
	return other, all.Complete
}

// subscribe begins with all that can be read. The caller closes the subscription.
func (b *outputBoard) subscribe(edges []int) *subscription {
	s := &subscription{edges: edges, ready: make(chan struct{}, 1), board: b, pending: make(map[int]*taskproc.Outputs)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.readers = append(b.mu.readers, s)
	for _, edge := range edges {
		if all := b.mu.readable[edge]; all != nil {
			s.pending[edge] = mergeOutputs(nil, all)
			s.notify()
		}
	}
	return s
}

// notify puts a token into ready, unless there is one.
func (s *subscription) notify() {
	select {
	case s.ready <- struct{}{}:
	default: // the token is there
	}
}

// take returns the changes so far, by edge.
func (s *subscription) take() map[int]*taskproc.Outputs {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	taken := s.pending
	s.pending = make(map[int]*taskproc.Outputs)
	return taken
}

// close ends the subscription. It may be called twice.
func (s *subscription) close() {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	s.board.mu.readers = slices.DeleteFunc(s.board.mu.readers, func(r *subscription) bool { return r == s })
}

// mergeOutputs joins two messages about one edge. Revocations come before outputs.
// earlier, nil for none, is consumed; later does not change.
func mergeOutputs(earlier, later *taskproc.Outputs) *taskproc.Outputs {
	if earlier == nil {
		earlier = new(taskproc.Outputs)
	}
	kept := earlier.Outputs
	if len(later.Revoked) > 0 {
		revoked := setOf(later.Revoked)
		kept = slices.DeleteFunc(kept, func(o *taskproc.MapOutput) bool { return revoked[o.Attempt] })
	}
	return &taskproc.Outputs{
		Edge:     later.Edge,
		Outputs:  append(kept, later.Outputs...),
		Revoked:  append(earlier.Revoked, later.Revoked...),
		Complete: later.Complete,
	}
}

// setOf returns the set of these texts.
func setOf(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, t := range texts {
		set[t] = true
	}
	return set
}
