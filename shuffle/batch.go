package shuffle

import (
	"encoding/binary"
	"unsafe"

	"github.com/hammr/hammr/internal/data/poison"
)

// entrySize is the size of an entry in bytes; batch views memory as entries.
const entrySize = 16

// batch collects records in a piece of memory until they are sorted:
//
//	| records →      free      ← entries |
//	0         end                        len(mem)
//
// Records are appended at the front. Their entries, which have the sort keys, grow from the
// back, so that the division between the two need not be known before. The free part always
// has space for a second copy of the entries, which sorting needs.
//
// A record in the batch is preceded by the number of its partition in width bytes,
// little-endian:
//
//	| partition | key length | value length | key | value |
//	            ^ entry.at
//
// One goroutine uses a batch at a time: the caller of Emit, or the goroutine that spills it.
type batch struct {
	mem    []byte
	slots  []entry // all of mem seen as entries; the i-th record has slot len-1-i
	end    int     // number of bytes that records occupy
	n      int     // number of records
	width  int     // number of bytes of a partition number
	counts []int   // number of records of each partition
	poison bool    // overwrite records that are dropped

	touched byte // written so that the compiler keeps the loads of gather
}

// newBatch makes a batch of mem, whose start must be aligned for entries.
func newBatch(mem []byte, o *Options) *batch {
	mem = mem[:len(mem)/entrySize*entrySize]
	return &batch{
		mem:    mem,
		slots:  unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(mem))), len(mem)/entrySize),
		width:  partitionWidth(o.Partitions),
		counts: make([]int, o.Partitions),
		poison: o.Poison,
	}
}

// partitionWidth returns the number of bytes that the number of a partition takes.
func partitionWidth(partitions int) int {
	width := 0
	for most := partitions - 1; most > 0; most >>= 8 {
		width++
	}
	return width
}

// fits reports whether a record of n bytes fits. The space of one more entry covers the
// bytes that are lost where the free part is aligned for entries.
func (b *batch) fits(n int) bool {
	return b.end+b.width+n+2*entrySize*(b.n+1)+entrySize <= len(b.mem)
}

// fitsEmpty reports whether a record of n bytes fits into an empty batch.
func (b *batch) fitsEmpty(n int) bool {
	return b.width+n+3*entrySize <= len(b.mem)
}

// add copies a record of n bytes, which must fit. Every map that emits spends its time in
// add. The sort key is computed here, while the key is in the processor's cache.
func (b *batch) add(partition int, key, value []byte, n int) {
	for i := range b.width {
		b.mem[b.end+i] = byte(partition >> (8 * i))
	}
	at := b.end + b.width
	prefix, rest := sortKey(key)
	if wholeSortKey(rest) && len(value) < 0x80 {
		putShortRecord(b.mem[at:], prefix, rest, value)
	} else {
		putRecord(b.mem[at:at+n], key, value)
	}
	b.end = at + n
	b.n++
	b.slots[len(b.slots)-b.n] = entry{prefix, rest, uint32(at)}
	b.counts[partition]++
}

// putShortRecord does what putRecord does, for a key that its sort key contains. It writes
// twelve bytes whatever the key's length, which saves a call for a copy. The bytes after the
// key are written over by the value, or are of the free part, which has space for at least two
// entries more.
func putShortRecord(dst []byte, prefix uint64, rest uint32, value []byte) {
	n := int(rest & 0xff)
	dst[0], dst[1] = byte(n), byte(len(value))
	binary.BigEndian.PutUint64(dst[2:], prefix)
	binary.BigEndian.PutUint32(dst[10:], rest)
	if len(value) == 8 {
		binary.LittleEndian.PutUint64(dst[2+n:], binary.LittleEndian.Uint64(value))
		return
	}
	copy(dst[2+n:], value)
}

// partitionAt returns the partition of the record at an offset: it is stored before the
// record.
func (b *batch) partitionAt(at uint32) int {
	p := 0
	for i := range b.width {
		p |= int(b.mem[int(at)-b.width+i]) << (8 * i)
	}
	return p
}

// keyOf returns a view of the key of the record at an offset. Lengths below 128 take one
// byte, which is the common case.
func (b *batch) keyOf(at uint32) []byte {
	if b.mem[at] < 0x80 && b.mem[at+1] < 0x80 {
		return b.mem[at+2:][:b.mem[at]]
	}
	keyLen, n := binary.Uvarint(b.mem[at:])
	_, m := binary.Uvarint(b.mem[int(at)+n:])
	return b.mem[int(at)+n+m:][:keyLen]
}

// touchKeys implements keyStore. Keys lie where entries say, so the processor overlaps their
// loads anyway, and touching them first costs more than it saves.
func (b *batch) touchKeys([]entry) {}

// sorted returns the entries of each partition in key order. Records of equal keys keep the
// order in which they were added. The entries are valid until the batch changes.
//
// The entries are first distributed to partitions by counting, into the free part. They lie
// in reverse order of addition, so the loop runs backwards. Then each partition is sorted,
// with the space of the original entries as the second buffer.
func (b *batch) sorted() [][]entry {
	entries, free := b.slots[len(b.slots)-b.n:], b.slots[(b.end+entrySize-1)/entrySize:][:b.n]
	parts, tmps := make([][]entry, len(b.counts)), make([][]entry, len(b.counts))
	next := make([]int, len(b.counts))
	at := 0
	for p, n := range b.counts {
		parts[p], tmps[p], next[p] = free[at:at+n], entries[at:at+n], at
		at += n
	}
	for i := len(entries) - 1; i >= 0; i-- {
		p := b.partitionAt(entries[i].at)
		free[next[p]] = entries[i]
		next[p]++
	}
	s := sorter{b}
	for p := range parts {
		s.sort(parts[p], tmps[p])
	}
	return parts
}

// moveFrom moves the records of c to b. b must be empty, and have at least as much memory.
func (b *batch) moveFrom(c *batch) {
	b.end, b.n = c.end, c.n
	copy(b.mem, c.mem[:c.end])
	copy(b.slots[len(b.slots)-b.n:], c.slots[len(c.slots)-c.n:])
	copy(b.counts, c.counts)
	c.reset()
}

// reset drops all records.
func (b *batch) reset() {
	if b.poison {
		poison.Fill(b.mem[:b.end])
	}
	b.end, b.n = 0, 0
	clear(b.counts)
}
