package sim

import (
	"math/bits"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sim/workload"
)

// forever is longer than any run, in ms, and so short that sums of a few do not overflow.
const forever = 1 << 50

// scale returns x·of/all, rounded down. It returns x if all is 0, and at most max(x,
// forever). No argument is negative. The product has 128 bits: bytes times ms overflow 64
// bits for large jobs.
func scale(x, of, all int64) int64 {
	if all == 0 {
		return x
	}
	high, low := bits.Mul64(uint64(x), uint64(of))
	if high >= uint64(all) {
		return forever
	}
	q, _ := bits.Div64(high, low, uint64(all))
	if q > uint64(max(x, forever)) {
		return forever
	}
	return int64(q)
}

// lengthOf returns the length of the range of a map's block. A block without bytes has one
// position.
func lengthOf(in workload.Task) int64 { return max(in.Bytes, 1) }

// millisOfRange returns the time of a range of a block, in ms. The times of adjacent ranges
// add up to the whole.
func millisOfRange(in workload.Task, r dag.Range) int64 {
	return scale(in.Millis, r.End.Offset, lengthOf(in)) - scale(in.Millis, r.Start.Offset, lengthOf(in))
}

// splitPosition returns the position that has been read in a range after a part of its time.
func splitPosition(r dag.Range, of, all int64) dag.Position {
	return dag.Position{Offset: r.Start.Offset + scale(r.End.Offset-r.Start.Offset, of, all)}
}
