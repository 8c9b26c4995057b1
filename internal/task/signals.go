package task

import (
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/dag"
)

// signals tell the record loops of an attempt's Nodes that something waits
// between two records.
type signals struct {
	sample atomic.Bool                  // progress is wanted
	stop   atomic.Bool                  // end early, publish
	stopAt atomic.Pointer[dag.Position] // the earliest end after a stop; nil: at once
	pause  atomic.Bool                  // write a checkpoint, end; written under mu
	alive  atomic.Bool                  // user code showed life since the last report

	mu     sync.Mutex
	due    []*atomic.Bool // of each Node: something is to be attended to
	heeded bool           // a place has been come to at which the pause takes effect
	paused chan struct{}  // closed when pause is set
}

// watchedBy has a Node look, at once and whenever there is something to attend to.
func (s *signals) watchedBy(n *Node) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.due.Store(true)
	s.due = append(s.due, &n.due)
}

func (s *signals) raise(flag *atomic.Bool) {
	flag.Store(true)
	s.wake()
}

// wake has all Nodes look.
func (s *signals) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wakeLocked()
}

func (s *signals) wakeLocked() {
	for _, due := range s.due {
		due.Store(true)
	}
}

// raisePause reports whether nobody had asked for a pause before.
func (s *signals) raisePause() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause.Load() {
		return false
	}
	s.pause.Store(true)
	s.wakeLocked()
	close(s.paused)
	return true
}

// whenPaused is closed when a pause is asked for.
func (s *signals) whenPaused() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused
}

// heed reports whether there is to be a pause, which is not withdrawn from then
// on. Nodes call it where they can stop.
func (s *signals) heed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause.Load() {
		s.heeded = true
	}
	return s.heeded
}

// withdraw takes back a pause for which no place has come, and reports whether
// there was one.
func (s *signals) withdraw() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heeded || !s.pause.Load() {
		return false
	}
	s.withdrawLocked()
	return true
}

func (s *signals) withdrawLocked() {
	s.heeded = false
	s.pause.Store(false)
	s.paused = make(chan struct{})
}

// decline takes back a pause that has come to nothing, and an end at once that was
// to become one.
func (s *signals) decline() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause.Load() {
		s.withdrawLocked()
	}
	if s.stopAt.Load() == nil {
		s.stop.Store(false)
	}
}

// SignalFlag is a look at the signals of a Node, for its loops over records.
type SignalFlag struct{ due *atomic.Bool }

// SignalFlag looks at the signals that the Node has not attended to.
func (n *Node) SignalFlag() SignalFlag { return SignalFlag{&n.due} }

// always is due.
var always atomic.Bool

func init() { always.Store(true) }

// OrAlways is a Watch for a loop in which something is done at each record anyway, so
// that other records pay for one look alone.
func (w SignalFlag) OrAlways(each bool) SignalFlag {
	if each {
		return SignalFlag{&always}
	}
	return w
}

// Signalled reports whether Attend has something to do. It costs one atomic load.
func (w SignalFlag) Signalled() bool { return w.due.Load() }

// Signalled is that of the Node's Watch, for code that is no loop itself.
func (n *Node) Signalled() bool { return n.due.Load() }

// attend notes that all signals so far are attended to, and reports what was
// asked for. Stop and pause stay set: they end the attempt.
func (n *Node) attend() (sample, end bool) {
	n.due.Store(false) // before the looks at what it was for
	sample = n.signal.sample.Swap(false)
	end = n.signal.stop.Load() || n.signal.pause.Load()
	return sample, end
}

// attendAgain has Signalled report true at the next record too.
func (n *Node) attendAgain() { n.due.Store(true) }
