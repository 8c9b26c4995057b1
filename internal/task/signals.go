package task

import (
	"sync/atomic"

	"github.com/hammr/hammr/dag"
)

// signals tell the record loops of an attempt's Nodes that something waits
// between two records.
type signals struct {
	epoch  atomic.Uint64                // rises with each thing to attend to
	sample atomic.Bool                  // progress is wanted
	stop   atomic.Bool                  // end early, publish
	stopAt atomic.Pointer[dag.Position] // the earliest end after a stop; nil: at once
	pause  atomic.Bool                  // write a checkpoint, end
	alive  atomic.Bool                  // user code showed life since the last report
	paused chan struct{}                // closed when pause is set
}

func (s *signals) raise(flag *atomic.Bool) {
	flag.Store(true)
	s.epoch.Add(1)
}

// raisePause is called by one goroutine.
func (s *signals) raisePause() {
	if !s.pause.Load() {
		s.raise(&s.pause)
		close(s.paused)
	}
}

// Signalled reports whether Attend has something to do. It costs one atomic
// load. Like Attend it belongs to the goroutine of the Node.
func (n *Node) Signalled() bool { return n.signal.epoch.Load() != n.attended }

// attend notes that all signals so far are attended to, and reports what was
// asked for. Stop and pause stay set: they end the attempt.
func (n *Node) attend() (sample, end bool) {
	n.attended = n.signal.epoch.Load()
	sample = n.signal.sample.Swap(false)
	end = n.signal.stop.Load() || n.signal.pause.Load()
	return sample, end
}

// attendAgain has Signalled report true at the next record too.
func (n *Node) attendAgain() { n.attended-- }
