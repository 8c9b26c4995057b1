package hashtable

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
	"unsafe"
)

// maxArena is the largest arena: what a slot can address.
const maxArena = 1<<atBits - 1

// A table has 8/5 slots of 8 bytes for each key. At this load factor, Find of a key that is
// there probes 1.8 slots on average.
const slotsNumerator, slotsDenominator = 8, 5

// Builder makes a Table of groups of records: AddKey begins a group, AddValue adds to it. One
// goroutine uses it.
type Builder struct {
	arena   []byte
	keys    int
	records int64
	header  int // place of the header of the value added last; -1 if the group has none yet
}

// NewBuilder returns a Builder with space for that many bytes. It takes more when it needs it.
func NewBuilder(bytes int64) *Builder {
	b := &Builder{header: -1}
	b.reserve(int(min(max(bytes, 0), maxArena)))
	return b
}

// reserve makes space for n more bytes. New memory gets its advice before it is touched.
func (b *Builder) reserve(n int) {
	if cap(b.arena)-len(b.arena) >= n {
		return
	}
	b.move(max(len(b.arena)+n, cap(b.arena)*3/2))
}

// move moves the arena to new memory of that size.
func (b *Builder) move(size int) {
	moved := make([]byte, len(b.arena), size)
	adviseHugePages(moved)
	copy(moved, b.arena)
	b.arena = moved
}

// AddKey begins the group of a key that was not added before.
func (b *Builder) AddKey(key []byte) {
	b.reserve(uvarintLen(uint64(len(key))) + len(key))
	b.arena = binary.AppendUvarint(b.arena, uint64(len(key)))
	b.arena = append(b.arena, key...)
	b.header = -1
	b.keys++
}

// AddValue adds a value to the group. A group needs at least one.
//
// The header of a value is twice its length, plus 1 if another value of the group follows. The
// lowest bit of a uvarint is in its first byte, so it is set when that value comes.
func (b *Builder) AddValue(value []byte) {
	if b.header >= 0 {
		b.arena[b.header] |= 1
	}
	header := uint64(len(value)) << 1
	b.reserve(uvarintLen(header) + len(value))
	b.header = len(b.arena)
	b.arena = binary.AppendUvarint(b.arena, header)
	b.arena = append(b.arena, value...)
	b.records++
}

// Table returns the table of what was added. The Builder must not be used after it. The slots
// are filled in a second pass, because only now their number is known. If much memory of the
// arena is unused, it is returned.
func (b *Builder) Table() (*Table, error) {
	if len(b.arena) > maxArena {
		return nil, fmt.Errorf("%d bytes of records: a hash table takes %d at most", len(b.arena), maxArena)
	}
	if cap(b.arena)-len(b.arena) > len(b.arena)/8 {
		b.move(len(b.arena))
	}
	t := &Table{arena: b.arena, keys: b.keys, records: b.records, seed: maphash.MakeSeed()}
	t.slots = make([]uint64, max(1, (b.keys*slotsNumerator+slotsDenominator-1)/slotsDenominator))
	adviseHugePages(t.slots)
	t.fill()
	return t, nil
}

// fillBatch is the number of keys whose slots are prefetched before the first of them is filled, so
// that their cache misses overlap.
const fillBatch = 64

// newKey is a key that has no slot yet.
type newKey struct{ hash, slot uint64 }

// fill gives each key of the arena a slot.
func (t *Table) fill() {
	var batch [fillBatch]newKey
	n := 0
	for at := 0; at < len(t.arena); {
		key, values := t.entry(at)
		hash := maphash.Bytes(t.seed, key)
		batch[n] = newKey{hash: hash, slot: slotOf(hash, at)}
		prefetch(unsafe.Pointer(&t.slots[t.home(hash)]))
		if n++; n == fillBatch {
			t.insert(batch[:n])
			n = 0
		}
		for more := true; more; {
			_, values, more = nextValue(values)
		}
		at = len(t.arena) - len(values)
	}
	t.insert(batch[:n])
}

// insert puts keys into the first free slot from their homes on.
func (t *Table) insert(batch []newKey) {
	for _, k := range batch {
		i := t.home(k.hash)
		for t.slots[i] != 0 {
			if i++; i == uint64(len(t.slots)) {
				i = 0
			}
		}
		t.slots[i] = k.slot
	}
}

// home returns the slot at which the search for a key begins. It depends on the upper bits of
// the hash, and the tag on the lower ones.
func (t *Table) home(hash uint64) uint64 {
	home, _ := bits.Mul64(hash, uint64(len(t.slots)))
	return home
}
