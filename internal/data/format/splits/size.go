package splits

import "math"

// tasksPerSlot is the number of splits for each slot into which an input is divided if its
// blocks are too few.
//
// Slots that finish early are idle for half a task on average, so with k tasks for each slot
// about 1/2k of the time is lost. A task costs about 5 ms beside its records, so k tasks for
// each slot cost 5k ms. For a second of work the sum hardly changes between 4 and 16. A map
// output is also a segment for every reduce, and a combiner works within one map, so the
// fewest tasks of that range are the best.
const tasksPerSlot = 4

// minShare is the default of Options.MinShare. Reading and mapping 4 MiB takes about ten
// times as long as starting the task.
const minShare = 4 << 20

// setShare computes the share of the files that one task is to have.
func (o *Options) setShare(files []File) {
	o.share = math.MaxInt64
	if o.Slots > 0 {
		o.share = max(o.MinShare, ceilDiv(TotalSize(files), int64(o.Slots)*tasksPerSlot))
	}
}

// TotalSize returns the number of bytes of all files.
func TotalSize(files []File) int64 {
	var total int64
	for _, f := range files {
		total += f.Info.Size
	}
	return total
}

// size returns the length of the splits of a file, in bytes, and the interval at which a
// split must end even if it is shorter:
//
//	max(MinSize, min(MaxSize, block, share))
//
// This is the rule of Hadoop's first FileInputFormat. A share that is shorter than the block
// is rounded such that equal pieces fill the block. So a piece has all of its bytes on
// the same machines, and boundary is the block size. Otherwise there is no boundary.
//
//	block 100, share 40:   34 34 32 │ 34 34 32 │ …
func (o *Options) size(f File) (length, boundary int64) {
	block := f.Info.BlockSize
	if block <= 0 {
		block = 64 << 20
	}
	share := max(o.share, o.MinSize)
	if share >= min(o.MaxSize, block) {
		return max(o.MinSize, min(o.MaxSize, block)), math.MaxInt64
	}
	pieces := max(1, min(ceilDiv(block, share), block/o.MinSize))
	return min(o.MaxSize, ceilDiv(block, pieces)), block
}

// ceilDiv returns a/b, rounded up.
func ceilDiv(a, b int64) int64 { return (a + b - 1) / b }
