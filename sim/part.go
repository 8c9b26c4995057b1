package sim

import (
	"math/bits"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/sim/workload"
)

// forever is longer than any run, in ms, and so short that sums of some do not
// overflow.
const forever = 1 << 50

// scale is x·of/all, rounded down; x when all is 0, and forever at most where it
// is more than x. No argument is negative.
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

// lengthOf is how long the range of a map's block is. One without bytes has one
// position all the same.
func lengthOf(in workload.Task) int64 { return max(in.Bytes, 1) }

// millisOfRange is how many ms of a block's time fall to a range of it. Those of ranges
// that lie end to end add up to the whole.
func millisOfRange(in workload.Task, r dag.Range) int64 {
	return scale(in.Millis, r.End.Offset, lengthOf(in)) - scale(in.Millis, r.Start.Offset, lengthOf(in))
}

// splitPosition is the place up to which a range has been read when so much of all its
// time has passed.
func splitPosition(r dag.Range, of, all int64) dag.Position {
	return dag.Position{Offset: r.Start.Offset + scale(r.End.Offset-r.Start.Offset, of, all)}
}
