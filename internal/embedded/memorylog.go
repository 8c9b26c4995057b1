package embedded

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster"
)

// memoryLog is the log of a single master, which always leads: every proposal is
// committed at once.
type memoryLog struct{ events chan jobmaster.LogEvent }

// newMemoryLog returns a log whose channel buffers Leading and the one batch under way.
func newMemoryLog() *memoryLog {
	l := &memoryLog{make(chan jobmaster.LogEvent, 2)}
	l.events <- jobmaster.Leading{}
	return l
}

func (l *memoryLog) Propose(batch []cluster.Entry)     { l.events <- jobmaster.Committed{Batch: batch} }
func (l *memoryLog) Events() <-chan jobmaster.LogEvent { return l.events }
