package task

import (
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// outputBoard has the outputs that can be read, edge by edge. listen posts the messages of
// the tasknode. Reduces subscribe to edges at any time, and several may subscribe to one
// edge. Each takes the entries of the logs that it has not read.
//
//	Outputs message ──post──► log, by edge ──take──► each subscription
type outputBoard struct {
	mu struct {
		sync.Mutex
		logs    map[int]*taskproc.OutputLog // by edge
		readers []*subscription             // open subscriptions
	}
}

// subscription is the place of one reduce in the logs that it reads.
type subscription struct {
	ready chan struct{} // has a token if there may be news
	board *outputBoard
	read  map[int]int // number of entries that it has taken, by edge; nil after close; guarded by the board's lock
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
	log := b.mu.logs[edge]
	if log == nil {
		if b.mu.logs == nil {
			b.mu.logs = make(map[int]*taskproc.OutputLog)
		}
		log = new(taskproc.OutputLog)
		b.mu.logs[edge] = log
	}
	log.Revoke(update.Revoked)
	for _, o := range update.Outputs {
		log.Add(o)
	}
	log.Complete = update.Complete
	for _, s := range b.mu.readers {
		if _, reads := s.read[edge]; reads {
			s.notify()
		}
	}
}

// compare reports whether an output of an edge can be read that none of these attempts wrote, and whether the
// outputs of all writers can be read.
func (b *outputBoard) compare(edge int, writers map[string]bool) (other, complete bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	log := b.mu.logs[edge]
	if log == nil {
		return false, false
	}
	for o := range log.Outputs() {
		other = other || !writers[o.Attempt]
	}
	return other, log.Complete
}

// subscribe begins with all that can be read. The caller closes the subscription.
func (b *outputBoard) subscribe(edges []int) *subscription {
	s := &subscription{ready: make(chan struct{}, 1), board: b, read: make(map[int]int)}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.readers = append(b.mu.readers, s)
	for _, edge := range edges {
		if s.read[edge] = 0; b.mu.logs[edge] != nil {
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

// take returns the news so far, by edge. Revocations come before outputs.
func (s *subscription) take() map[int]*taskproc.Outputs {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	news := make(map[int]*taskproc.Outputs)
	for edge, from := range s.read {
		if log := s.board.mu.logs[edge]; log != nil {
			outputs, revoked := log.News(from)
			news[edge] = &taskproc.Outputs{Edge: int32(edge), Outputs: outputs, Revoked: revoked, Complete: log.Complete}
			s.read[edge] = log.Len()
		}
	}
	return news
}

// close ends the subscription. It may be called twice.
func (s *subscription) close() {
	s.board.mu.Lock()
	defer s.board.mu.Unlock()
	s.read = nil
	s.board.mu.readers = slices.DeleteFunc(s.board.mu.readers, func(r *subscription) bool { return r == s })
}

// setOf returns the set of these texts.
func setOf(texts []string) map[string]bool {
	set := make(map[string]bool, len(texts))
	for _, t := range texts {
		set[t] = true
	}
	return set
}
