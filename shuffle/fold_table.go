package shuffle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"unsafe"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/data/poison"
)

// Fold combines values of type V. The values of a key are folded in the order in which they
// were added. Partial results are folded in the order of the parts. Fold must be
// associative, but need not be commutative.
//
// A Fold that returns false changes nothing: the result would be no V, such as a sum that is
// too large. Then both values are passed on, so a key may have several values in the output,
// and in any order: such a Fold must be commutative.
type Fold[V any] struct {
	Fold   func(acc, v V) (V, bool)              // folds v into acc; may reuse the memory of acc
	Append func(dst []byte, v V) []byte          // appends the bytes of v
	Decode func(src []byte) (value V, err error) // decodes a value; it may refer to src, but its strings may not
}

// Always returns the function of a Fold that can fold any two values.
func Always[V any](fold func(acc, v V) V) func(acc, v V) (V, bool) {
	return func(acc, v V) (V, bool) { return fold(acc, v), true }
}

// FoldTable combines records as they are added, in a hash table by key whose values are
// folded in place. When it would exceed its memory, it is sorted and written as a run.
//
//	Emit ─► pending (256 records) ─► touch: hash, load slots ─► combine
//	                                                             │ full
//	                                                             ▼
//	                                             resize, or sort ─► spill
//
// A table whose keys hardly repeat is bypassed: see startBypass.
//
// Emit only collects. A batch of 256 records is hashed in one pass, which also touches their
// slots in the table, and combined in a second pass. This hides most of the latency of cache
// misses.
//
// The table is open addressing with linear probing. Its seeds are random for each table, so
// that keys which collide in one attempt do not in the next. The order of slots never shows,
// because spills are sorted.
//
// One goroutine uses a FoldTable. Values without references live in an arena, and so do
// values whose only references are strings (textStore). Other values live on the garbage
// collected heap.
type FoldTable[V any] struct {
	ctx  context.Context // context of the spills that Emit begins
	opts Options
	fold Fold[V]    // functions of the user
	refs references // what values refer to

	keepsStrings bool // refs.onlyStrings: the table keeps the strings of values in text

	entries []foldEntry[V] // the slots; a free one has size 0
	arena   []byte         // memory of entries; nil if they are on the heap
	used    int            // number of entries that hold a key
	limit   int            // maximum of used
	counts  []int          // number of entries of each partition; the sum is used
	long    longKeys       // keys of more than inlineKey bytes
	text    textStore      // strings of values that refer to nothing else
	values  int64          // total bytes of values that own has copied
	space   []byte         // memory for sorting; an arena, nil before the first spill

	unfolded []unfoldedRecord[V] // of the batch: records that cannot be folded into their entries

	bypass bool       // the table is bypassed from the next batch on
	log    *recordLog // takes the records while the table is bypassed; else nil

	borrowed       int64 // bytes taken from the budget, beside opts.Memory
	spilledRecords int64 // records that the last spill and earlier ones have written

	pending      [foldBatch]pendingFold[V] // records that are not combined yet
	pendingCount int                       // pending records
	pendingLong  []byte                    // those keys of pending records that do not fit into an entry
	seeds        [2]uint64                 // seeds of hash
	keySum       uint64                    // sum over the keys of combined and logged records, for Sums.Emitted
	touched      uint32                    // written so that the compiler keeps loads that only fill the cache
	encoded      []byte                    // buffer for one encoded value

	file     spillFile
	stats    Stats
	err      error // first error; later records are dropped
	finished bool  // Finish or Abort was called
}

const (
	// foldBatch is the number of records in a batch.
	foldBatch = 256
	// inlineKey is the length of the longest key that an entry holds itself.
	inlineKey = 16
	// minSlots is the size of an empty table; a batch always fits.
	minSlots = 1024
	// maxPendingLong bounds the bytes of long keys in a batch.
	maxPendingLong = 64 << 10
	// sortBytes is the memory that sorting takes per key.
	sortBytes = 2 * entrySize
)

// foldEntry is a key and its value.
type foldEntry[V any] struct {
	key  [inlineKey]byte // the key, padded with zeros; for a longer key, its hash and its place
	size uint32          // length of the key plus 1; 0: the slot is free
	part uint32          // partition of the key
	v    V
}

// pendingFold is a record in the batch, with the slot where its probe begins.
type pendingFold[V any] struct {
	a, b uint64 // the key as in foldEntry; for a longer key, its hash and its place in pendingLong
	size uint32
	slot uint32 // set by touch
	v    V
}

// NewFoldTable makes a FoldTable. It must be finished or aborted.
func NewFoldTable[V any](ctx context.Context, o Options, f Fold[V]) (*FoldTable[V], error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if f.Fold == nil || f.Append == nil || f.Decode == nil {
		return nil, errors.New("shuffle options: a fold needs Fold, Append and Decode")
	}
	t := &FoldTable[V]{ctx: ctx, opts: o, fold: f, refs: referencesOf[V]()}
	t.keepsStrings = t.refs.onlyStrings()
	t.file.opts, t.long.poison = &t.opts, o.Poison
	t.opts.Memory = max(t.opts.Memory, 2*minSlots*t.slotBytes())
	t.seeds, t.counts = [2]uint64{rand.Uint64(), rand.Uint64()}, make([]int, o.Partitions)
	t.resize(minSlots)
	return t, nil
}

// Emit folds v into the value of key, which it copies. For errors see Err.
func (t *FoldTable[V]) Emit(key []byte, v V) {
	if t.log != nil {
		t.append(key, v)
		return
	}
	p, full := &t.pending[t.pendingCount%foldBatch], false
	if a, ok := t.loadShort(key); ok {
		p.a, p.b = a, 0
	} else if len(key) <= inlineKey {
		p.a, p.b = loadKey(key)
	} else {
		p.a, p.b = xxhash.Sum64(key), uint64(len(t.pendingLong))
		t.pendingLong = append(t.pendingLong, key...)
		full = len(t.pendingLong) > maxPendingLong
	}
	p.size = uint32(len(key)) + 1
	p.v = v
	if len(t.refs.others) > 0 && t.refs.reachable(unsafe.Pointer(&p.v)) {
		p.v = t.own(v)
	}
	t.pendingCount++
	if full || t.pendingCount == foldBatch {
		t.drain()
	}
}

// drain combines the batch, and passes on the records that cannot be folded.
func (t *FoldTable[V]) drain() {
	t.combineBatch()
	if len(t.unfolded) > 0 {
		t.passOn()
	}
}

// combineBatch combines the batch. A panic of the fold or of a codec becomes an error of the table,
// because the record that Emit is adding did not cause it.
func (t *FoldTable[V]) combineBatch() {
	defer t.drained()
	if t.text.wasteful() {
		t.compactText()
	}
	if t.full() {
		t.growOrSpill()
	}
	pending := t.pending[:t.pendingCount]
	t.stats.Records += int64(len(pending))
	if t.err == nil {
		t.touch(pending)
		t.combineRecords(pending)
	}
	if t.bypass {
		t.bypass = false
		t.startBypass()
	}
}

// drained recovers from a panic in combineBatch, which defers it, and empties the batch.
func (t *FoldTable[V]) drained() {
	if v := recover(); v != nil {
		t.fail(&PanicError{Value: v, Stack: debug.Stack()})
	}
	if t.opts.Poison {
		poison.Fill(t.pendingLong)
	}
	t.pendingCount, t.pendingLong = 0, t.pendingLong[:0]
	if cap(t.pendingLong) > 4*maxPendingLong {
		t.pendingLong = nil
	}
}

// keyBytes returns a view of an entry's key.
func (t *FoldTable[V]) keyBytes(e *foldEntry[V]) []byte {
	if e.size <= inlineKey+1 {
		return e.key[:e.size-1]
	}
	return t.long.get(binary.LittleEndian.Uint64(e.key[8:]), int(e.size-1))
}

// fail keeps the first error.
func (t *FoldTable[V]) fail(err error) {
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("fold: %w", err)
	}
}

// Err returns the first error so far.
func (t *FoldTable[V]) Err() error { return t.err }

// Stats returns the counts so far. A record counts once it is combined.
func (t *FoldTable[V]) Stats() Stats { return t.stats }

// Buffered implements Collector.
func (t *FoldTable[V]) Buffered() int64 {
	n := int64(t.used+t.pendingCount)*int64(unsafe.Sizeof(foldEntry[V]{})) + t.outside() - int64(len(t.long.spare))*keyChunk
	if t.log != nil {
		n += t.log.size
	}
	return n
}
