package shuffle

import (
	"encoding/binary"
	"errors"
	"unsafe"
)

// The front keeps the keys that came last, one for each value of some bits of
// the hash, with what their values have come to since. Keys that come all the
// time are folded there, in the cache of the core, and need no look at the table,
// which is larger than that. A key that another one pushes out goes on to the
// table; its values still meet in their order, since what lies in the table came
// before what lies in the front.
//
// A table that fits the cache, values that hold pointers and keys that hardly
// ever come again do without.
const (
	// frontBits make 16,384 entries: with a number as value 512 KiB, half of a
	// common second-level cache.
	frontBits = 14
	// frontReview is how many records go on to the table before it is asked
	// whether the front pays.
	frontReview = 1 << 20
	// frontPays is the share of records, as a divisor, that have to be folded in
	// the front.
	frontPays = 8
	// frontMemory is the least memory of a table with a front.
	frontMemory = 16 << 20
)

// errFoldPanicked stands for a panic that has come out of Emit.
var errFoldPanicked = errors.New("the function panicked")

type foldFront[V any] [1 << frontBits]foldEntry[V]

// frontBytes is what the front takes.
func (t *FoldTable[V]) frontBytes() int64 {
	return int64(unsafe.Sizeof(foldFront[V]{}))
}

// addFront gives the table a front if it may have one.
func (t *FoldTable[V]) addFront() {
	if t.frontAllowed && t.front == nil {
		t.front = new(foldFront[V])
		t.frontSince = t.stats.Records
	}
}

// swap puts a record into the entry and returns what was there.
func (e *foldEntry[V]) swap(a, b uint64, size uint32, v V) (oldA, oldB uint64, oldSize uint32, oldV V) {
	oldA, oldB = binary.LittleEndian.Uint64(e.key[:8]), binary.LittleEndian.Uint64(e.key[8:])
	oldSize, oldV = e.size, e.v
	e.set(a, b, size, v)
	return oldA, oldB, oldSize, oldV
}

// reviewFront gives up a front that does not pay.
func (t *FoldTable[V]) reviewFront() {
	seen := t.stats.Records - t.frontSince
	if seen-t.frontPassed < seen/frontPays {
		t.frontAllowed = false
		t.flushFront()
	}
	t.frontSince, t.frontPassed = t.stats.Records, 0
}

// flushFront moves what is in the front to the table, and drops the front.
func (t *FoldTable[V]) flushFront() {
	front := t.front
	t.front = nil
	if front == nil {
		return
	}
	for i := range front {
		if front[i].size > 0 {
			p := &t.pending[t.held]
			p.a, p.b, p.size, p.v = front[i].swap(0, 0, 0, p.v)
			if t.held++; t.held == foldBatch {
				t.combineGathered()
			}
		}
	}
	t.combineGathered()
}
