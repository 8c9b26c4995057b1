package embedded

import "github.com/hammr/hammr/cluster"

// memoryLog is the log of a cluster of one: what is proposed is committed.
type memoryLog struct{ batches chan []cluster.Entry }

// newMemoryLog has room for the one batch that may be on its way.
func newMemoryLog() *memoryLog { return &memoryLog{batches: make(chan []cluster.Entry, 1)} }

func (l *memoryLog) Propose(batch []cluster.Entry)     { l.batches <- batch }
func (l *memoryLog) Committed() <-chan []cluster.Entry { return l.batches }
