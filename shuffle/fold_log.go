package shuffle

import (
	"bytes"
	"encoding/binary"

	"github.com/hammr/hammr/internal/data/poison"
)

// recordLog holds records in the order in which they were added, in chunks, so that it grows
// without copying. A record is preceded by the number of its partition:
//
//	| partition | key length | value length | key | value | partition | …
//	            ^ entry.at: number of the chunk and offset in it
//
// Only sorting needs entries, so they take no memory before it, but the log reserves it.
type recordLog struct {
	chunks    [][]byte // chunks with records; all but the last are as long as their records
	spare     [][]byte // empty chunks of chunkSize bytes
	chunkSize int
	size      int64  // total bytes of chunks
	open      []byte // the last chunk
	end       int    // number of bytes of open that records occupy
	records   int    // number of records
	limit     int    // maximum of records, so that entries fit
	counts    []int  // number of records of each partition
	poison    bool   // overwrite records that are dropped

	value   []byte // encoded value of the record that is being added
	touched byte   // written so that the compiler keeps loads that only fill the cache
}

const (
	// logOffsetBits is the number of bits of entry.at that are an offset in a chunk.
	logOffsetBits = 23
	minLogChunk   = 64 << 10
	maxLogChunk   = 1 << logOffsetBits
	// maxLogChunks is how many chunks entry.at can distinguish.
	maxLogChunks = 1 << (32 - logOffsetBits)
)

// newRecordLog makes an empty log, which has no memory yet. memory is what it will have at
// least; chunks are a fraction of it.
func newRecordLog(memory int64, partitions int, poison bool) *recordLog {
	return &recordLog{
		poison:    poison,
		chunkSize: arenaSize(int(min(max(memory/8, minLogChunk), maxLogChunk))),
		counts:    make([]int, partitions),
	}
}

// loggedLen returns the number of bytes that a record takes in a log.
func loggedLen(partition, keyLen, valueLen int) int {
	return uvarintLen(partition) + recordLen(keyLen, valueLen)
}

// fits reports whether a record of n bytes fits.
func (l *recordLog) fits(n int) bool { return l.end+n <= len(l.open) && l.records < l.limit }

// add copies a record, which must fit.
func (l *recordLog) add(partition int, key, value []byte) {
	n := loggedLen(partition, len(key), len(value))
	dst := l.open[l.end : l.end+n]
	putRecord(dst[binary.PutUvarint(dst, uint64(partition)):], key, value)
	l.end += n
	l.records++
	l.counts[partition]++
}

// memoryWith returns how much memory the log would use with a further chunk for a record of n
// bytes, with sorting as many more records as that chunk would have.
func (l *recordLog) memoryWith(n int) int64 {
	size := l.size + int64(max(n, l.chunkSize))
	if l.records == 0 {
		return size
	}
	return size + int64(float64(l.records)*float64(size)/float64(l.size))*sortBytes
}

// full reports whether the log has as many chunks as it can have.
func (l *recordLog) full() bool { return len(l.chunks) == maxLogChunks }

// enlarge adds a chunk for a record of n bytes. memory is what the log may use in total. A record
// that is longer than a usual chunk is alone in its chunk, because it begins at the start.
func (l *recordLog) enlarge(n int, memory int64) error {
	var mem []byte
	if last := len(l.spare) - 1; last >= 0 && n <= l.chunkSize {
		mem, l.spare = l.spare[last], l.spare[:last]
	} else {
		var err error
		if mem, err = arenas.take(arenaSize(max(n, l.chunkSize))); err != nil {
			return err
		}
	}
	l.seal()
	l.chunks = append(l.chunks, mem)
	l.size += int64(len(mem))
	l.open = mem[:max(n, l.chunkSize)]
	l.limit = max(int((memory-l.size)/sortBytes), l.records+1)
	return nil
}

// seal ends the last chunk.
func (l *recordLog) seal() {
	if last := len(l.chunks) - 1; last >= 0 {
		l.chunks[last] = l.chunks[last][:l.end]
	}
	l.open, l.end = nil, 0
}

// reset drops all records, and keeps chunks of usual size for later ones if keep is set.
func (l *recordLog) reset(keep bool) {
	for _, chunk := range l.chunks {
		if l.poison {
			poison.Fill(chunk)
		}
		if mem := chunk[:cap(chunk)]; keep && len(mem) == l.chunkSize {
			l.spare = append(l.spare, mem)
		} else {
			arenas.discard(mem)
		}
	}
	clear(l.chunks)
	clear(l.counts)
	l.chunks, l.open = l.chunks[:0], nil
	l.size, l.end, l.records, l.limit = 0, 0, 0, 0
}

// release returns all memory.
func (l *recordLog) release() {
	l.reset(false)
	for _, mem := range l.spare {
		arenas.discard(mem)
	}
	l.spare = nil
}

// from returns the memory from the record at a place on.
func (l *recordLog) from(at uint32) []byte {
	return l.chunks[at>>logOffsetBits][at&(maxLogChunk-1):]
}

// record returns a view of the record at a place.
func (l *recordLog) record(at uint32) []byte {
	b := l.from(at)
	s, _ := parseRecord(b, 0)
	return b[:s.end:s.end]
}

// keyOf implements keyStore.
func (l *recordLog) keyOf(at uint32) []byte {
	b := l.from(at)
	s, _ := parseRecord(b, 0)
	return b[s.key:s.value:s.value]
}

// touchKeys implements keyStore. Few records reach beyond the two bytes that it loads by more
// than the processor loads with them.
func (l *recordLog) touchKeys(order []entry) {
	touched := byte(0)
	for i := range order {
		b := l.from(order[i].at)
		touched += b[0] + b[min(len(b)-1, 31)]
	}
	l.touched = touched
}

// place adds entries of all records to their partitions. next is the index of the next entry of
// each partition.
func (l *recordLog) place(sorted []entry, next []int) {
	l.seal()
	for i, chunk := range l.chunks {
		for at := 0; at < len(chunk); {
			p, n := binary.Uvarint(chunk[at:])
			s, _ := parseRecord(chunk, at+n)
			prefix, rest := sortKey(chunk[s.key:s.value])
			sorted[next[p]] = entry{prefix, rest, uint32(i<<logOffsetBits | s.start)}
			next[p]++
			at = s.end
		}
	}
}

// equalKeys returns how many entries at the start of sorted ones have the same key. Sort keys of
// equal keys are equal, however deep in the keys they begin.
func (l *recordLog) equalKeys(order []entry) int {
	n := 1
	for n < len(order) && order[n].prefix == order[0].prefix && order[n].rest == order[0].rest &&
		bytes.Equal(l.keyOf(order[n].at), l.keyOf(order[0].at)) {
		n++
	}
	return n
}

// logValues steps through the values of entries of one key.
type logValues struct {
	log     *recordLog
	entries []entry // entries of the values that follow
	value   []byte  // current value; a view
}

func (v *logValues) NextValue() bool {
	if len(v.entries) == 0 {
		return false
	}
	b := v.log.from(v.entries[0].at)
	s, _ := parseRecord(b, 0)
	v.value = b[s.value:s.end:s.end]
	v.entries = v.entries[1:]
	return true
}

func (v *logValues) Value() []byte { return v.value }
