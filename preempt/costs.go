package preempt

import (
	"cmp"
	"slices"
)

// Costs is what the ways cost on a machine of the cluster. Zero values stand for
// the defaults. What an attempt and its machine have told of themselves counts
// instead, where they have: see Victim.
type Costs struct {
	TaskBytes       int64 // memory of a task; default 1 GB
	DiskRate        int64 // of a machine, bytes/s; default 100 MB/s
	SlotFreeLatency int64 // how long it takes to hear of a free slot, ms; default 300
	SplitMillis     int64 // to publish what a map has done; default 500

	// MemoryShort says that a suspended task is swapped out and in again (HFSP,
	// section 4.2 and Fig. 8); else it stays in memory, and suspending is free.
	MemoryShort bool
}

// MemHeadroom is the memory that a machine has for more.
type MemHeadroom struct {
	Free int64 // bytes that can be taken without anything being swapped out
	Swap int64 // bytes that can be swapped out for more
}

// WithDefaults is the costs with the defaults filled in.
func (c Costs) WithDefaults() Costs {
	c.TaskBytes = cmp.Or(c.TaskBytes, 1e9)
	c.DiskRate = cmp.Or(c.DiskRate, 100e6)
	c.SlotFreeLatency = cmp.Or(c.SlotFreeLatency, 300)
	c.SplitMillis = cmp.Or(c.SplitMillis, 500)
	return c
}

// transfer is how long it takes to write so many bytes, or to read them, in ms.
func (c Costs) transfer(bytes int64) int64 {
	const absurd = 1e15 // more than any task has
	return min(bytes, absurd) * 1000 / c.DiskRate
}

// splitCost is the cost of ending a map early, in ms: what it has in memory is written,
// and all that it has done is published.
func (c Costs) splitCost(v Victim) int64 {
	if v.Memory == 0 {
		return c.SplitMillis
	}
	return c.SplitMillis + c.transfer(v.Unwritten)
}

// checkpointCost is the cost of writing down how far a task is, in ms: the same, and
// what was in memory is read again. Where that is unknown it is all the memory that
// a task has. Of a gang it is that of the machine where it costs most.
func (c Costs) checkpointCost(v Victim) int64 {
	cost := c.writeCost(v.Footprint)
	for _, h := range v.Others {
		cost = max(cost, c.writeCost(h))
	}
	return cost
}

func (c Costs) writeCost(h Footprint) int64 {
	if h.Memory == 0 {
		return 2 * c.transfer(c.TaskBytes)
	}
	return c.SplitMillis + 2*c.transfer(h.Unwritten)
}

// suspendCost is the cost of having a task stand still in memory, in ms: of its being
// swapped out and in again, as likely as it is that others need its memory. Who
// takes its slot needs as much as it has; of what is free beside that, the more
// there is the less of what the task holds is missed. Of a gang it is that of the
// machine where it costs most.
func (c Costs) suspendCost(v Victim) int64 {
	cost := c.swapCost(v.Footprint)
	for _, h := range v.Others {
		cost = max(cost, c.swapCost(h))
	}
	return cost
}

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

// exceedsMemory reports whether there is no memory, swapped or not, for others like the
// victim beside it.
func (v Victim) exceedsMemory() bool {
	return v.Footprint.exceedsMemory() || slices.ContainsFunc(v.Others, Footprint.exceedsMemory)
}

func (h Footprint) exceedsMemory() bool {
	return h.Headroom != nil && h.Headroom.Free+h.Headroom.Swap < h.Memory
}
