package shuffle

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
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

// growOrSpill grows the table if there is memory for it, and spills it otherwise.
func (t *FoldTable[V]) growOrSpill() {
	most := (t.opts.Memory - t.outside()) / t.slotBytes()
	slots := min(2*int64(len(t.entries)), most, 1<<31)
	if slots < int64(len(t.entries))*5/4 {
		t.spill(t.ctx)
		return
	}
	t.resize(int(slots))
}

// resize moves the table to one of another size. A table that can still grow has a lower
// load factor.
func (t *FoldTable[V]) resize(slots int) {
	old, oldArena := t.entries, t.arena
	t.allocate(slots)
	t.limit = slots * 5 / 8
	if int64(slots)*2*t.slotBytes() > t.opts.Memory {
		t.limit = slots * 3 / 4
	}
	for i := range old {
		if old[i].size > 0 {
			t.move(&old[i])
		}
	}
	arenas.give(oldArena)
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

// sortSpace returns memory to sort all entries: for the entries, and for as many again. The
// table keeps it until the end, because fresh pages would cost more than the sort.
func (t *FoldTable[V]) sortSpace() (sorted, tmp []entry, err error) {
	n := t.used
	if len(t.space) < n*sortBytes {
		arenas.give(t.space)
		if t.space, err = arenas.take(arenaSize(n * sortBytes)); err != nil {
			return nil, nil, err
		}
	}
	space := unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(t.space))), 2*n)
	return space[:n], space[n:], nil
}
