package preempt

import (
	"cmp"
	"slices"
)

// Costs are assumptions about what the modes cost on a machine of the cluster. Zero values
// stand for the defaults. Where a Victim has measured values, these count instead.
type Costs struct {
	TaskBytes       int64 // memory of a task; default 1 GB
	DiskRate        int64 // disk rate of a machine, bytes/s; default 100 MB/s
	SlotFreeLatency int64 // time from an attempt's exit until its slot is used again, ms; default 300
	SplitMillis     int64 // time to publish the output of a split map, ms; default 500

	// MemoryShort says that a suspended task is swapped out and in again (HFSP, section 4.2
	// and Fig. 8). Otherwise it stays in memory, and suspending is free.
	MemoryShort bool
}

// MemHeadroom is the free memory of a machine.
type MemHeadroom struct {
	Free int64 // bytes that can be allocated before the machine swaps
	Swap int64 // bytes that can be swapped out for more
}

// WithDefaults returns the costs with defaults in place of zero values.
func (c Costs) WithDefaults() Costs {
	c.TaskBytes = cmp.Or(c.TaskBytes, 1e9)
	c.DiskRate = cmp.Or(c.DiskRate, 100e6)
	c.SlotFreeLatency = cmp.Or(c.SlotFreeLatency, 300)
	c.SplitMillis = cmp.Or(c.SplitMillis, 500)
	return c
}

// transfer returns the time to write or to read some bytes, in ms.
func (c Costs) transfer(bytes int64) int64 {
	const absurd = 1e15 // more bytes than any task has
	return min(bytes, absurd) * 1000 / c.DiskRate
}

// splitCost returns the cost of splitting a map, in ms: the map writes its buffered records
// and publishes its output.
func (c Costs) splitCost(v Victim) int64 {
	if v.Memory == 0 {
		return c.SplitMillis
	}
	return c.SplitMillis + c.transfer(v.Unwritten)
}

// checkpointCost returns the cost of a checkpoint, in ms: the state is written and read
// again. If its size is unknown, all the memory of a task counts. The cost for a gang is the
// cost on its most expensive machine.
func (c Costs) checkpointCost(v Victim) int64 {
	cost := c.writeCost(v.Footprint)
	for _, h := range v.Others {
		cost = max(cost, c.writeCost(h))
	}
	return cost
}

// writeCost returns the time to write the state of one attempt and to read it again, in ms.
// If the task has not reported its memory, the configured size counts.
func (c Costs) writeCost(h Footprint) int64 {
	if h.Memory == 0 {
		return 2 * c.transfer(c.TaskBytes)
	}
	return c.SplitMillis + 2*c.transfer(h.Unwritten)
}

// suspendCost returns the expected cost of suspending a task in memory, in ms: the time to
// swap it out and in again, times the probability that its memory is needed. The successor
// needs as much memory as the victim. The more memory is free beyond that, the smaller the
// probability. The cost for a gang is the cost on its most expensive machine.
func (c Costs) suspendCost(v Victim) int64 {
	cost := c.swapCost(v.Footprint)
	for _, h := range v.Others {
		cost = max(cost, c.swapCost(h))
	}
	return cost
}

// swapCost returns the suspendCost on one machine. If the machine has not reported its
// memory, a suspension costs nothing, unless the operator says that memory is short.
func (c Costs) swapCost(h Footprint) int64 {
	memory := cmp.Or(h.Memory, c.TaskBytes)
	swap := 2 * c.transfer(memory)
	switch {
	case h.Headroom == nil && !c.MemoryShort:
		return 0
	case h.Headroom == nil || h.Headroom.Free <= memory:
		return swap
	}
	return int64(float64(swap) * float64(memory) / float64(h.Headroom.Free))
}

// exceedsMemory reports whether a machine has no memory, swap included, for another attempt
// as large as the suspended victim.
func (v Victim) exceedsMemory() bool {
	return v.Footprint.exceedsMemory() || slices.ContainsFunc(v.Others, Footprint.exceedsMemory)
}

// exceedsMemory reports whether one machine has too little memory; false if its memory is
// unknown.
func (h Footprint) exceedsMemory() bool {
	return h.Headroom != nil && h.Headroom.Free+h.Headroom.Swap < h.Memory
}

// SuspendMillis returns the least time by which a suspension delays an attempt, in ms: twice
// the time until the master knows of a slot, and the time to swap its memory if memory is
// short.
func (c Costs) SuspendMillis() int64 {
	c = c.WithDefaults()
	return 2*c.SlotFreeLatency + c.swapCost(Footprint{})
}
