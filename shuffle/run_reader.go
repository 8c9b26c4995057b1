package shuffle

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/storage"
)

// runReader yields the records of one run. It reads a block together with the header of the
// next one, so that each block costs one read. It verifies a block before it yields the
// first record. Records are views of the block, valid until the next block is loaded. A run
// that is read from start to end is also verified as a whole.
//
//	newRunReader ─► [loadRanks, if tagged] ─► [seek] ─► advance … ─► close
//	                                                      │ left == 0
//	                                                      └─► nextBlock ─► load
//
// The first error remains in err; all calls after it return false.
type runReader struct {
	ctx  context.Context // checked once per block
	file io.ReaderAt     // a file, or a memoryFile
	path string          // path of the file, for errors
	run  Run

	data   []byte      // bytes of the current block
	at     int         // end of the current record in data
	left   int         // number of records of the block after the current one
	cur    span        // place of the current record in data
	tag    uint32      // tag of the current record: an index into ranks
	ranks  []rank      // table of a tagged run
	counts blockCounts // counts of the blocks read so far

	stored *[]byte               // read buffer, from the pool
	raw    *[]byte               // decompressed block, from the pool
	head   [blockHeaderSize]byte // header of the next block, if ready
	ready  bool                  // whether head holds the header of the next block
	whole  bool                  // whether reading began at the start of the run
	next   int64                 // where the next block begins, from the run's start; bytes
	block  int64                 // where the current block begins; bytes
	size   int                   // records in the current block
	poison bool                  // overwrite a block before the next one is loaded; a run in memory is copied
	err    error
}

// blockCounts sums up the blocks of a run.
type blockCounts struct {
	records, raw int64
	checksum     uint32
}

// add counts a block with the header head. The table of ranks has no records, so it is added
// to the checksum only.
func (c *blockCounts) add(h *blockHeader, head []byte) {
	c.checksum = crc32.Update(c.checksum, castagnoli, head)
	if h.flags&flagRanks == 0 {
		c.records += int64(h.records)
		c.raw += int64(h.raw)
	}
}

// matches compares the sums with the run's entry in the index.
func (c *blockCounts) matches(run Run) error {
	if c.checksum != run.Checksum || c.records != run.Records || run.RawLength > 0 && c.raw != run.RawLength {
		return fmt.Errorf("%w: run of %d records, %d bytes and checksum %#x where the index has %d, %d and %#x",
			storage.ErrCorrupt, c.records, c.raw, c.checksum, run.Records, run.RawLength, run.Checksum)
	}
	return nil
}

// newRunReader starts at a position of a run. It reads only the table of a tagged run.
func newRunReader(ctx context.Context, file io.ReaderAt, s *Source, poison bool) (*runReader, error) {
	run, from, path := s.Run, s.From, s.Path
	r := &runReader{ctx: ctx, file: file, path: path, run: run, whole: true, poison: poison}
	if run.Length < 0 || run.Offset < 0 || from.BlockOffset < 0 || from.Record < 0 || from.BlockOffset > run.Length {
		return nil, fmt.Errorf("%w: %s: run of %d bytes at offset %d, read from %d",
			storage.ErrCorrupt, path, run.Length, run.Offset, from.BlockOffset)
	}
	if run.Tagged && run.Length > 0 {
		if err := r.loadRanks(); err != nil {
			r.close()
			return nil, err
		}
	}
	if from == (RunPosition{}) {
		return r, nil
	}
	if err := r.seek(from); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// loadRanks reads the table that begins a tagged run. Tags are indexes into the table, so it
// is read even if reading begins at a later block.
func (r *runReader) loadRanks() error {
	h, ok := r.load()
	if !ok {
		return r.err
	}
	if h.flags != flagRanks {
		return r.corrupt(0, "tagged run without a table of ranks")
	}
	ranks, err := decodeRanks(r.data, h.records)
	if err != nil {
		return r.fail(r.block, err)
	}
	r.ranks, r.left, r.size, r.at = ranks, 0, 0, len(r.data)
	return nil
}

// seek moves to a position. The first block of a tagged run is after the table.
func (r *runReader) seek(from RunPosition) error {
	if from.BlockOffset != 0 && from.BlockOffset != r.next {
		r.next, r.ready, r.whole = from.BlockOffset, false, false
	}
	if from.Record == 0 {
		return nil
	}
	if !r.nextBlock() && r.err != nil {
		return r.err
	}
	if from.Record > int64(r.left) {
		return r.corrupt(from.BlockOffset, fmt.Sprintf("no record %d in the block", from.Record))
	}
	for range from.Record {
		if !r.advance() {
			return r.err
		}
	}
	return nil
}

// record returns the index, in the current block, of the record after the current one.
func (r *runReader) record() int64 { return int64(r.size - r.left) }

// advance moves to the next record. It returns false at the end of the run and after an
// error.
func (r *runReader) advance() bool {
	if r.left == 0 && !r.nextBlock() {
		return false
	}
	if r.run.Tagged && !r.readTag() {
		return false
	}
	s, ok := parseRecord(r.data, r.at)
	if !ok {
		r.corrupt(r.block, fmt.Sprintf("record %d reaches beyond its block", r.record()))
		return false
	}
	r.cur, r.at = s, s.end
	r.left--
	return true
}

// repeat moves to the next record if it is in the same block and its lengths and its key are
// those of the current record. Records with tags are left to advance.
func (r *runReader) repeat() bool {
	size, head := r.cur.end-r.cur.start, r.cur.value-r.cur.start
	if r.left == 0 || r.run.Tagged || size > len(r.data)-r.at {
		return false
	}
	if !bytes.Equal(r.data[r.at:r.at+head], r.data[r.cur.start:r.cur.value]) {
		return false
	}
	r.move(size)
	r.left--
	return true
}

// takeRepeats moves over records as long as repeat would, and over at most limit bytes. It
// returns their bytes and their number.
func (r *runReader) takeRepeats(limit int) (records []byte, n int) {
	size, from := r.cur.end-r.cur.start, r.at
	if r.run.Tagged {
		return nil, 0
	}
	head := r.data[r.cur.start:r.cur.value]
	end := min(len(r.data), from+limit, from+r.left*size)
	for at := from; at+size <= end && bytes.Equal(r.data[at:at+len(head)], head); at += size {
		n++
	}
	r.move(n * size)
	r.left -= n
	return r.data[from:r.at], n
}

// move moves the current record by a number of bytes, to a record of the same lengths.
func (r *runReader) move(bytes int) {
	r.cur.start += bytes
	r.cur.key += bytes
	r.cur.value += bytes
	r.cur.end += bytes
	r.at += bytes
}

// readTag reads the tag in front of a record of a tagged run.
func (r *runReader) readTag() bool {
	tag, n := binary.Uvarint(r.data[r.at:])
	if n <= 0 || tag >= uint64(len(r.ranks)) {
		r.corrupt(r.block, fmt.Sprintf("record %d with an unknown rank", r.record()))
		return false
	}
	r.tag = uint32(tag)
	r.at += n
	return true
}

// key and value are views of the current record, valid until advance loads another block.
func (r *runReader) key() []byte   { return r.data[r.cur.key:r.cur.value:r.cur.value] }
func (r *runReader) value() []byte { return r.data[r.cur.value:r.cur.end:r.cur.end] }

// position returns where the current record begins, or the end of the run.
func (r *runReader) position() RunPosition {
	if r.size == 0 {
		return RunPosition{BlockOffset: r.next}
	}
	return RunPosition{BlockOffset: r.block, Record: r.record() - 1}
}

// nextBlock moves to the next block of records.
func (r *runReader) nextBlock() bool {
	if r.err != nil {
		return false
	}
	if r.at != len(r.data) {
		r.corrupt(r.block, fmt.Sprintf("%d bytes after the last record of a block", len(r.data)-r.at))
		return false
	}
	h, ok := r.load()
	if !ok {
		return false
	}
	want := uint8(0)
	if r.run.Tagged {
		want = flagTagged
	}
	if h.flags != want {
		r.corrupt(r.block, fmt.Sprintf("block with flags %#x in a run with %#x", h.flags, want))
		return false
	}
	r.left, r.size, r.at = h.records, h.records, 0
	return true
}

// load reads and verifies the next block.
func (r *runReader) load() (blockHeader, bool) {
	if r.poison {
		poison.Fill(r.data)
	}
	r.size, r.block = 0, r.next
	if r.next == r.run.Length {
		r.finish()
		return blockHeader{}, false
	}
	if err := context.Cause(r.ctx); err != nil {
		r.fail(r.next, err)
		return blockHeader{}, false
	}
	h, err := r.readHeader()
	if err == nil {
		err = r.readPayload(&h)
	}
	if err != nil {
		r.fail(r.block, err)
		return h, false
	}
	return h, true
}

// readHeader parses the next block's header.
func (r *runReader) readHeader() (blockHeader, error) {
	left := r.run.Length - r.next - blockHeaderSize
	if left < 0 {
		return blockHeader{}, fmt.Errorf("%w: %d bytes after the last block", storage.ErrCorrupt, left+blockHeaderSize)
	}
	if !r.ready {
		if err := readFull(r.file, r.head[:], r.run.Offset+r.next); err != nil {
			return blockHeader{}, err
		}
	}
	h, err := parseBlockHeader(r.head[:], left)
	if err == nil {
		r.counts.add(&h, r.head[:])
		err = r.withinRun()
	}
	return h, err
}

// withinRun refuses blocks that hold more than the whole run does.
func (r *runReader) withinRun() error {
	if r.run.RawLength > 0 && r.counts.raw > r.run.RawLength || r.counts.records > r.run.Records {
		return fmt.Errorf("%w: blocks hold more than the run of %d records and %d bytes", storage.ErrCorrupt, r.run.Records, r.run.RawLength)
	}
	return nil
}

// readPayload reads the block's payload, and the header of the next block if there is one.
func (r *runReader) readPayload(h *blockHeader) error {
	start := r.next + blockHeaderSize
	r.next = start + int64(h.stored)
	r.ready = r.run.Length-r.next >= blockHeaderSize
	want := h.stored
	if r.ready {
		want += blockHeaderSize
	}
	b, err := r.bytes(r.run.Offset+start, want)
	if err != nil {
		return err
	}
	if r.ready {
		copy(r.head[:], b[h.stored:])
	}
	stored := b[:h.stored]
	if crc32.Checksum(stored, castagnoli) != h.crc {
		return fmt.Errorf("%w: block does not match its checksum", storage.ErrCorrupt)
	}
	if h.codec == None {
		r.data = stored
		return nil
	}
	r.raw = growPooled(r.raw, h.raw)
	r.data = (*r.raw)[:h.raw]
	return decompress(h.codec, r.data, stored)
}

// bytes reads n bytes of the file. For a run in memory it returns a view; otherwise the bytes
// are valid until the next call.
func (r *runReader) bytes(offset int64, n int) ([]byte, error) {
	if m, ok := r.file.(memoryFile); ok && !r.poison {
		return m.view(offset, n)
	}
	r.stored = growPooled(r.stored, n)
	b := (*r.stored)[:n]
	return b, readFull(r.file, b, offset)
}

// finish verifies the run as a whole once its last block has been read.
func (r *runReader) finish() {
	r.data, r.at = nil, 0
	if !r.whole || r.err != nil {
		return
	}
	if err := r.counts.matches(r.run); err != nil {
		r.fail(0, err)
	}
}

// corrupt fails with a description of the damage. at is counted from the start of the run.
func (r *runReader) corrupt(at int64, what string) error {
	return r.fail(at, fmt.Errorf("%w: %s", storage.ErrCorrupt, what))
}

// ReadError reports where a run cannot be read. A reduce derives from it which map's output
// is lost.
type ReadError struct {
	Path   string // path of the data file
	Offset int64  // offset of the block in the file, in bytes
	Err    error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("read %s at offset %d: %v", e.Path, e.Offset, e.Err)
}

// Unwrap returns the cause, often storage.ErrCorrupt.
func (e *ReadError) Unwrap() error { return e.Err }

// fail keeps the first error. at is counted from the start of the run.
func (r *runReader) fail(at int64, err error) error {
	if r.err == nil {
		r.err = &ReadError{Path: r.path, Offset: r.run.Offset + at, Err: err}
	}
	return r.err
}

// close releases the buffers. Results of key and value are no longer valid.
func (r *runReader) close() {
	if r.poison {
		poison.Fill(r.data)
	}
	putPooled(r.stored)
	putPooled(r.raw)
	r.stored, r.raw, r.data = nil, nil, nil
}

// readFull reads len(b) bytes. A file that ends earlier is corrupt.
func readFull(file io.ReaderAt, b []byte, offset int64) error {
	n, err := file.ReadAt(b, offset)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		return fmt.Errorf("%w: file ends at offset %d", storage.ErrCorrupt, offset+int64(n))
	}
	return err
}
