package shuffle

import "sync/atomic"

// Budget is memory that the collectors and intakes of a process share, beside the Memory that
// each of them has. A FoldTable or an Intake takes from it before it would spill, and gives
// back what it took when it spills or ends:
//
//	Memory ──full──► TryTake ──► larger ──full──► TryTake ─ no ─► spill, Give
//
// How much there is changes when a collector spills, but never its output. A nil Budget has
// nothing. Any goroutine may call its methods.
type Budget struct {
	free atomic.Int64 // bytes; at least 0
}

// NewBudget makes a Budget of a number of bytes.
func NewBudget(bytes int64) *Budget {
	b := new(Budget)
	b.free.Store(max(bytes, 0))
	return b
}

// TryTake takes n bytes if as many are free, and reports whether it did.
func (b *Budget) TryTake(n int64) bool {
	if b == nil {
		return false
	}
	for {
		free := b.free.Load()
		if free < n {
			return false
		}
		if b.free.CompareAndSwap(free, free-n) {
			return true
		}
	}
}

// Give returns n bytes that TryTake took.
func (b *Budget) Give(n int64) {
	if b != nil {
		b.free.Add(n)
	}
}
