package seqfile

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/storage"
)

// Sizes of the read buffer, in bytes. Files are read through one buffer, since the client of
// a network file system reads ahead itself.
const (
	defaultBuffer    = 1 << 20
	minBuffer        = 4 << 10
	defaultMaxRecord = math.MaxInt32
)

// Reader reads a range of a SequenceFile. Key and Value are Writable bytes,
// decompressed.
//
//	before ──Next──> within ──Next──> … ──> after
//	   └──────── nothing in the range ──────> after
type Reader struct {
	header Header
	src    *source
	codec  *decoder // nil for None
	body   body
	rng    dag.Range

	// mark is the Offset of the current record's Position, index its Skip.
	mark, index int64
	// owed is the number of records that the range still owns of the mark at its end; -1
	// until that mark is reached.
	owed  int64
	start int64 // offset at which reading began
	state state
	err   error
}

// state is the state of a Reader within its range.
type state int

const (
	before state = iota // before the first Next
	within              // at a record
	after               // behind the last record, or failed
)

// Open opens a Reader and reads the header. If the file is empty or no SequenceFile, the
// error wraps storage.ErrCorrupt.
func Open(ctx context.Context, o format.Open) (*Reader, error) {
	file, err := o.FS.Open(ctx, o.Path)
	if err != nil {
		return nil, err
	}
	buffer := max(defaultBuffer, o.Buffer)
	if o.ReadAhead > 0 {
		buffer = max(o.ReadAhead, minBuffer)
	}
	r := &Reader{src: newSource(o.Path, file, o.Size, buffer), rng: o.Range, owed: -1}
	if err := r.begin(o); err != nil {
		file.Close()
		return nil, err
	}
	return r, nil
}

// OpenAll opens a Reader of a whole file of size bytes. The file shell uses it to show files.
func OpenAll(ctx context.Context, fs storage.FS, path string, size int64) (*Reader, error) {
	return Open(ctx, format.Open{
		FS: fs, Path: path, Size: size,
		Range: dag.Range{End: dag.Position{Offset: math.MaxInt64}},
	})
}

// begin reads the header and goes to the range's start.
func (r *Reader) begin(o format.Open) (err error) {
	if r.header, err = readHeader(r.src); err != nil {
		return err
	}
	limit := int(min(o.MaxRecord, math.MaxInt32))
	if limit <= 0 {
		limit = defaultMaxRecord
	}
	headerEnd := r.src.pos
	if r.codec, err = newDecoder(&r.header); err != nil {
		return fmt.Errorf("%s: %w", o.Path, err)
	}
	r.body = r.newBody(limit)
	r.mark, r.index = headerEnd, -1
	if r.rng.Start.Offset > headerEnd {
		err = r.findMark()
	}
	r.start = r.src.pos
	return err
}

// newBody chooses the body by the header.
func (r *Reader) newBody(limit int) body {
	if r.header.Compression == Block {
		return &blocks{src: r.src, sync: r.header.Sync, codec: r.codec, limit: limit}
	}
	return &records{src: r.src, sync: r.header.Sync, codec: r.codec, limit: limit}
}

// findMark moves to the first mark at or after the range's start. It stops if no mark begins
// before the end of the range.
func (r *Reader) findMark() error {
	if err := r.src.seek(min(r.rng.Start.Offset, r.src.size)); err != nil {
		return err
	}
	limit := r.rng.End.Offset
	if r.rng.End.Skip > 0 {
		limit = r.src.size
	}
	pattern := binary.BigEndian.AppendUint32(make([]byte, 0, markSize), syncEscape)
	found, err := r.src.find(append(pattern, r.header.Sync[:]...), limit)
	if !found {
		r.state = after
	}
	return err
}

// Header returns the header of the file.
func (r *Reader) Header() Header { return r.header }

// Next moves to the next record of the range. The first call skips the number of records
// that the range's start sets.
func (r *Reader) Next() bool {
	if r.state == before {
		for range r.rng.Start.Skip {
			if !r.advance() {
				return false
			}
		}
	}
	return r.advance()
}

// advance moves by one record and sets the state. At the end, the position is the range's end,
// so that an attempt that is checkpointed there has nothing left to read.
func (r *Reader) advance() bool {
	if r.state == after {
		return false
	}
	more, err := r.step()
	switch {
	case err != nil:
		r.err, r.state = err, after
	case !more:
		r.mark, r.index, r.state = r.rng.End.Offset, r.rng.End.Skip, after
	default:
		r.state = within
	}
	return r.state == within
}

// step reads the next record if it belongs to the range. A record belongs to the range if
// its mark does. If the range's end has a Skip, the first records of the mark at the end
// belong to the range, too.
func (r *Reader) step() (more bool, err error) {
	mark, fresh, ok, err := r.body.boundary()
	if err != nil || !ok {
		return false, err
	}
	r.index++
	if fresh {
		r.mark, r.index = mark, 0
	}
	if r.owed < 0 && r.mark >= r.rng.End.Offset {
		r.owed = r.rng.End.Skip
	}
	if r.owed == 0 {
		return false, nil
	}
	if r.owed > 0 {
		r.owed--
	}
	return true, r.body.read()
}

// Offset returns where the record begins. In a compressed block it returns where the block
// begins.
func (r *Reader) Offset() int64 { return r.body.offset() }

// Key returns the key's Writable bytes.
func (r *Reader) Key() []byte { return r.body.key() }

// Value returns the value's Writable bytes.
func (r *Reader) Value() []byte { return r.body.value() }

// Position returns the mark before the record, and the number of records between the two.
// Behind the last record it returns the range's end.
func (r *Reader) Position() dag.Position {
	if r.state == before {
		return r.rng.Start
	}
	return dag.Position{Offset: r.mark, Skip: r.index}
}

// Consumed returns the number of bytes read since the start of reading.
func (r *Reader) Consumed() int64 { return r.src.pos - r.start }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Close closes the file.
func (r *Reader) Close() error {
	r.codec.close()
	return r.src.file.Close()
}
