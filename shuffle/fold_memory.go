package shuffle

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/hammr/hammr/internal/data/poison"
)

// slotBytes returns the memory per slot. It includes the extra memory that growing or
// sorting takes, whichever is larger.
func (t *FoldTable[V]) slotBytes() int64 {
	size := int64(unsafe.Sizeof(foldEntry[V]{}))
	return size + max(size/2, sortBytes*3/4)
}

// memory returns the memory that the table uses now, including the memory that sorting will
// need.
func (t *FoldTable[V]) memory() int64 {
	return int64(len(t.entries))*t.slotBytes() + t.outside()
}

// outside returns the memory of keys and values that is not in entries.
func (t *FoldTable[V]) outside() int64 { return t.long.size + t.text.chunks.size + t.values }

// capacity returns the memory that the table may use now.
func (t *FoldTable[V]) capacity() int64 { return t.opts.Memory + t.borrowed }

// full reports whether the batch may not fit.
func (t *FoldTable[V]) full() bool {
	return t.used+t.pendingCount > t.limit || t.memory() > t.capacity()
}

// growOrSpill grows the table if there is memory for it. Otherwise it spills the table, which is
// bypassed from the next batch on if it has combined little.
func (t *FoldTable[V]) growOrSpill() {
	t.long.dropSpare()
	if t.grow() || t.borrow() && (!t.full() || t.grow()) {
		return
	}
	t.bypass = t.keysAreDistinct()
	t.spill(t.ctx)
}

// grow doubles the table, or makes it as large as memory allows. It returns false if that
// would be no more than a quarter.
func (t *FoldTable[V]) grow() bool {
	most := (t.capacity() - t.outside()) / t.slotBytes()
	slots := min(2*int64(len(t.entries)), most, 1<<31)
	if slots < int64(len(t.entries))*5/4 {
		return false
	}
	t.resize(int(slots))
	return true
}

// borrow takes memory from the budget: for a table of twice the size, or for more keys and
// values outside of entries. It returns false if keys repeat so rarely that a larger table
// would combine little, or if the values may be on the heap, where garbage takes memory too.
func (t *FoldTable[V]) borrow() bool {
	if len(t.refs.others) > 0 || t.keysAreDistinct() {
		return false
	}
	n := t.capacity() / 4
	if t.used+t.pendingCount > t.limit {
		n = max(n, 2*int64(len(t.entries))*t.slotBytes()+t.outside()-t.capacity())
	}
	for range 2 {
		if t.opts.Budget.TryTake(n) {
			t.borrowed += n
			return true
		}
		n /= 2
	}
	return false
}

// empty drops all entries. A table that has borrowed returns to its first size, so that other
// tables can borrow.
func (t *FoldTable[V]) empty() {
	if t.borrowed > 0 {
		t.release()
		t.resize(minSlots)
	}
	clear(t.entries) // before the strings that entries refer to
	clear(t.counts)
	t.long.reset()
	t.text = textStore{}
	t.used, t.values, t.spilledRecords = 0, 0, t.stats.Records
}

// release returns all memory. Without resize, no record may be added after it.
func (t *FoldTable[V]) release() {
	if t.log != nil {
		t.log.release()
		t.log = nil
	}
	t.releaseTable()
	t.giveArena(t.space)
	t.space = nil
	t.opts.Budget.Give(t.borrowed)
	t.borrowed = 0
}

// releaseTable drops all entries and returns their memory.
func (t *FoldTable[V]) releaseTable() {
	t.dropped(t.entries)
	t.giveArena(t.arena)
	t.entries, t.arena, t.limit = nil, nil, 0
	t.long.reset()
	t.long, t.text = longKeys{poison: t.opts.Poison}, textStore{}
}

// dropped overwrites the keys of entries that are no longer used. It leaves the values, because the
// garbage collector follows their pointers.
func (t *FoldTable[V]) dropped(entries []foldEntry[V]) {
	if !t.opts.Poison {
		return
	}
	for i := range entries {
		poison.Fill(entries[i].key[:])
	}
}

// giveArena returns an arena. Only those of usual size are kept for other attempts.
func (t *FoldTable[V]) giveArena(mem []byte) {
	if t.borrowed > 0 {
		arenas.discard(mem)
	} else {
		arenas.give(mem)
	}
}

// resize moves the table to one of another size. A table that can still grow has a lower
// load factor.
func (t *FoldTable[V]) resize(slots int) {
	old, oldArena := t.entries, t.arena
	t.allocate(slots)
	t.limit = slots * 5 / 8
	if int64(slots)*2*t.slotBytes() > t.capacity() {
		t.limit = slots * 3 / 4
	}
	for i := range old {
		if old[i].size > 0 {
			t.move(&old[i])
		}
	}
	t.dropped(old)
	t.giveArena(oldArena)
}

// arenaTable is the size from which a table uses an arena. Lookups hit all of the table, and
// huge pages avoid most of the TLB misses.
const arenaTable = 2 << 20

// allocate makes an empty table. A table stays on the heap if values refer to memory that
// only the garbage collector knows, or if arenas are not outside of the heap.
func (t *FoldTable[V]) allocate(slots int) {
	size := slots * int(unsafe.Sizeof(foldEntry[V]{}))
	t.arena = nil
	if size >= arenaTable && (t.refs.plain() || arenasOutsideHeap && t.refs.onlyStrings()) {
		if mem, err := arenas.take(size); err == nil {
			clear(mem)
			t.arena = mem
			t.entries = unsafe.Slice((*foldEntry[V])(unsafe.Pointer(unsafe.SliceData(mem))), slots)
			return
		}
	}
	t.entries = make([]foldEntry[V], slots)
}

// move inserts an entry of the old table into the new one. Keys are distinct, so it needs no
// comparison.
func (t *FoldTable[V]) move(e *foldEntry[V]) {
	a, b := binary.LittleEndian.Uint64(e.key[:8]), binary.LittleEndian.Uint64(e.key[8:])
	if e.size > inlineKey+1 {
		b = uint64(e.size)
	}
	i, _ := bits.Mul64(t.hash(a, b), uint64(len(t.entries)))
	for t.entries[i].size > 0 {
		if i++; i == uint64(len(t.entries)) {
			i = 0
		}
	}
	t.entries[i] = *e
}

// sortSpace returns memory to sort n entries: for the entries, and for as many again. The
// table keeps it until the end, because fresh pages would cost more than the sort.
func (t *FoldTable[V]) sortSpace(n int) (sorted, tmp []entry, err error) {
	if len(t.space) < n*sortBytes {
		t.giveArena(t.space)
		if t.space, err = arenas.take(arenaSize(n * sortBytes)); err != nil {
			return nil, nil, err
		}
	}
	space := unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(t.space))), 2*n)
	return space[:n], space[n:], nil
}
