package tasknode

import (
	"hash/maphash"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

var markSeed = maphash.MakeSeed()

// progressMark returns a hash that changes when an attempt has made progress. It leaves out
// counters that advance without progress, such as time and memory. The master only compares
// it with the mark before.
func progressMark(p *taskproc.Progress) uint64 {
	var h maphash.Hash
	h.SetSeed(markSeed)
	maphash.WriteComparable(&h, p.Fraction)
	maphash.WriteComparable(&h, p.Records)
	maphash.WriteComparable(&h, taskproc.ToPosition(p.Position))
	h.WriteString(p.Phase)
	h.WriteString(p.Status)
	maphash.WriteComparable(&h, p.Activity)
	return h.Sum64() + countersMark(p.Counters)
}

// countersMark returns a hash of counters that does not depend on their order.
func countersMark(counters []*taskproc.Counter) (sum uint64) {
	for _, c := range counters {
		id := counter.ID{Group: c.Group, Name: c.Name}
		if !advancesByItself(id) {
			sum += maphash.Comparable(markSeed, counted{id, c.Value})
		}
	}
	return sum
}

// counted is a counter with its value.
type counted struct {
	counter.ID
	value int64
}

// advancesByItself reports whether a counter changes without progress. Time, memory and the
// number of garbage collections increase even in a task that does nothing.
func advancesByItself(id counter.ID) bool {
	switch id {
	case counter.GCTimeMillis, counter.CPUTimeMillis, counter.PhysicalMemoryBytes, counter.VirtualMemoryBytes,
		counter.CommittedHeapBytes, counter.PeakMapPhysicalBytes, counter.PeakMapVirtualBytes,
		counter.PeakReducePhysicalBytes, counter.PeakReduceVirtualBytes:
		return true
	}
	return false
}
