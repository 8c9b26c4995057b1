package task

import (
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/taskproc"
)

// outputBoard is what the tasknode has told of outputs, edge by edge. Reduces
// subscribe to edges, at any time and several to one edge.
type outputBoard struct {
	mu struct {
		sync.Mutex
		told    map[int]*taskproc.Outputs // by edge: all that can be read
		readers []*subscription
	}
}

// subscription is what one reduce has not heard yet.
type subscription struct {
	edges   []int
	ready   chan struct{} // holds a token when there may be news
	board   *outputBoard
	pending map[int]*taskproc.Outputs // by edge; guarded by the bulletin's lock
}

// post takes in a message. It belongs to the bulletin from then on and is not
// changed any more by anybody: several may read it.
func (b *outputBoard) post(news *taskproc.Outputs) {
	for _, o := range news.Outputs {
		o.Edge = news.Edge
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	edge := int(news.Edge)
	if b.mu.told == nil {
		b.mu.told = make(map[int]*taskproc.Outputs)
	}
	b.mu.told[edge] = mergeOutputs(b.mu.told[edge], news)
	b.mu.told[edge].Revoked = nil // nobody else was told of what they are about
	for _, s := range b.mu.readers {
		if slices.Contains(s.edges, edge) {
			s.pending[edge] = mergeOutputs(s.pending[edge], news)
			s.ring()
		}
	}
}

// subscribe begins with all that is known.
func (b *outputBoard) subscribe(edges []int) *subscription {
	s := &subscription{edges: edges, ready: make(chan struct{}, 1), board: b, pending: make(map[int]*taskproc.Outputs)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.readers = append(b.mu.readers, s)
	for _, edge := range edges {
		if told := b.mu.told[edge]; told != nil {
			s.pending[edge] = mergeOutputs(nil, told)
			s.ring()
		}
	}
	return s
}

func (s *subscription) ring() {
	select {
	case s.ready <- struct{}{}:
	default: // the token is there
	}
}

// take takes the news so far, by edge.
func (s *subscription) take() map[int]*taskproc.Outputs {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	taken := s.pending
	s.pending = make(map[int]*taskproc.Outputs)
	return taken
}

// close ends the subscription; it may be called twice.
func (s *subscription) close() {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	s.board.mu.readers = slices.DeleteFunc(s.board.mu.readers, func(r *subscription) bool { return r == s })
}

// mergeOutputs is two messages about one edge in one, in which revoking comes before
// telling. earlier, nil for none, is used up; later stays as it is.
func mergeOutputs(earlier, later *taskproc.Outputs) *taskproc.Outputs {
	if earlier == nil {
		earlier = new(taskproc.Outputs)
	}
	kept := earlier.Outputs
	if len(later.Revoked) > 0 {
		kept = slices.DeleteFunc(kept, func(o *taskproc.MapOutput) bool { return slices.Contains(later.Revoked, o.Attempt) })
	}
	return &taskproc.Outputs{
		Edge:     later.Edge,
		Outputs:  append(kept, later.Outputs...),
		Revoked:  append(earlier.Revoked, later.Revoked...),
		Complete: later.Complete,
	}
}
