// Package fixed reads files whose records all have the same length. Values are the records;
// there are no keys. A record belongs to the range that contains its first byte. In a plain
// file a Position is the record's offset. In a compressed file it is the number of records
// before the record.
package fixed

import (
	"context"
	"fmt"
	"io"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/input"
)

// bufferSize is about how many bytes are read at once.
const bufferSize = 256 << 10

// Records opens readers of records of length bytes, at least 1. A file that does not end
// with a whole record is an error, as in Hadoop's FixedLengthRecordReader.
func Records(length int) format.Opener {
	return func(ctx context.Context, o format.Open) (format.Reader, error) {
		if length < 1 {
			return nil, fmt.Errorf("record length %d: must be at least 1", length)
		}
		r := &reader{open: o, length: length, offset: -1}
		begin := r.openPlain
		if input.Compressed(o.Path) {
			begin = r.openStream
		}
		if err := begin(ctx); err != nil {
			return nil, err
		}
		return r, nil
	}
}

// reader returns one record at a time from buf, which contains complete records. It counts
// records by index in plain and in compressed files. Only in a plain file can it begin at
// any record.
type reader struct {
	open   format.Open
	source *input.Source
	length int   // length of a record in bytes
	plain  bool  // the file is not compressed
	index  int64 // index of the next record in the file
	end    int64 // index of the first record behind the range
	begin  int64 // index of the range's first record

	buf    []byte // bytes of whole records
	record []byte
	offset int64  // offset of record, in bytes
	unread []byte // unread part of buf
	err    error
}

// openPlain opens a plain file. The records of a range are found by arithmetic:
//
//	range [250, 600) of records of 100 bytes  →  records 3, 4 and 5
func (r *reader) openPlain(ctx context.Context) (err error) {
	size := int64(r.length)
	if rest := r.open.Size % size; rest != 0 {
		return fmt.Errorf("%s: %d bytes are not a multiple of the record length %d: %d bytes are left over",
			input.Name(r.open), r.open.Size, r.length, rest)
	}
	r.plain = true
	r.begin = ceil(r.open.Range.Start.Offset, size) + r.open.Range.Start.Skip
	r.index = r.begin
	r.end = min(r.open.Size/size, ceil(r.open.Range.End.Offset, size)+r.open.Range.End.Skip)
	r.allocate(max(0, r.end-r.begin))
	r.source, err = input.Open(ctx, r.open, min(r.open.Size, r.begin*size))
	return err
}

// ceil returns n/size rounded up. n must not be negative.
func ceil(n, size int64) int64 {
	if n%size != 0 {
		return n/size + 1
	}
	return n / size
}

// openStream opens a compressed file. The Positions of its records all have the offset 0.
func (r *reader) openStream(ctx context.Context) (err error) {
	r.begin, r.end = r.open.Range.Start.Skip, r.open.Range.End.Skip
	if r.open.Range.Start.Offset > 0 {
		r.end = 0
	} else if r.open.Range.End.Offset > 0 {
		r.end = 1<<63 - 1
	}
	r.allocate(r.end)
	if r.source, err = input.Open(ctx, r.open, 0); err != nil {
		return err
	}
	for r.err == nil && r.index < r.begin && r.advance() {
	}
	r.offset = -1
	return nil
}

// allocate makes a buffer for at most the given number of whole records. A range of few
// records needs no large buffer.
func (r *reader) allocate(records int64) {
	n := min(records, int64(max(1, max(bufferSize, r.open.Buffer)/r.length)))
	r.buf = make([]byte, max(1, n)*int64(r.length))
}

// Next implements format.Reader.
func (r *reader) Next() bool {
	if r.index >= r.end || !r.advance() {
		r.record = nil
		return false
	}
	return true
}

// advance moves to the next record without checking the range.
func (r *reader) advance() bool {
	if len(r.unread) == 0 && !r.fill() {
		return false
	}
	r.record = r.unread[:r.length:r.length]
	r.unread = r.unread[r.length:]
	r.offset = r.index * int64(r.length)
	r.index++
	return true
}

// fill reads as many whole records as the buffer has. It reports whether there is at least one.
// Bytes that are left at the end of the file are an error, unless the records before them end
// the range.
func (r *reader) fill() bool {
	if r.err != nil {
		return false
	}
	n, err := io.ReadFull(r.source, r.buf)
	whole := n - n%r.length
	r.unread = r.buf[:whole]
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF && n == whole:
	case err == io.ErrUnexpectedEOF:
		r.err = fmt.Errorf("%s: record at byte %d ends after %d of %d bytes", input.Name(r.open),
			r.index*int64(r.length)+int64(whole), n-whole, r.length)
	default:
		r.err = err
	}
	return whole > 0
}

func (r *reader) Offset() int64 { return r.offset }
func (r *reader) Key() []byte   { return nil }
func (r *reader) Value() []byte { return r.record }
func (r *reader) Err() error    { return r.err }
func (r *reader) Close() error  { return r.source.Close() }

// Position implements format.Reader.
func (r *reader) Position() dag.Position {
	switch {
	case r.offset < 0:
		return r.open.Range.Start
	case r.plain:
		return dag.Position{Offset: r.offset}
	}
	return dag.Position{Skip: r.offset / int64(r.length)}
}

// Consumed returns the bytes of the records of a plain file, or the compressed bytes used of
// a compressed file.
func (r *reader) Consumed() int64 {
	if r.plain {
		return (r.index - r.begin) * int64(r.length)
	}
	return r.source.Consumed()
}
