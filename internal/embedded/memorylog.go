package embedded

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/jobmaster"
)

// memoryLog is the log of a cluster of one: its master leads, and what is
// proposed is committed.
type memoryLog struct{ events chan jobmaster.LogEvent }

// newMemoryLog has room for the beginning and the one batch that may be on its
// way.
func newMemoryLog() *memoryLog {
	l := &memoryLog{make(chan jobmaster.LogEvent, 2)}
	l.events <- jobmaster.Leading{}
	return l
}

func (l *memoryLog) Propose(batch []cluster.Entry)     { l.events <- jobmaster.Committed{Batch: batch} }
func (l *memoryLog) Events() <-chan jobmaster.LogEvent { return l.events }
