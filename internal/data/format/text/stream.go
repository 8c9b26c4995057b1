package text

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/bzip2"
	"github.com/hammr/hammr/internal/data/format/input"
)

// streamReader reads a range of a compressed file. A Position is a block and the number of a
// record in the block. With all codecs but bzip2 the whole file is one block.
type streamReader struct {
	scan   scanner
	open   format.Open
	source blockSource
	width  int64        // length of a delimiter in bytes; 1 for line ends
	next   dag.Position // Position of the next record
	at     dag.Position // Position of the current record
	shift  int64        // Offset of a record of this block minus its offset in the stream
	line   []byte
	offset int64 // see method Offset
	err    error

	keepMark bool // see Options
}

// blockSource reads the plain bytes of a file that is compressed in blocks. Its blocks
// determine the Positions of records.
type blockSource interface {
	io.ReadCloser
	// Block returns the offset in the file of the block that holds the byte at offset in the
	// stream. Offsets do not decrease from call to call. The byte before the first one
	// belongs to the first block.
	Block(offset int64) int64
	// Consumed returns how many bytes of the file have been used.
	Consumed() int64
}

// openCompressed opens a file that is read from its start. A Position is then a number of
// records: {0, n}.
func openCompressed(ctx context.Context, o format.Open, opts Options) (format.Reader, error) {
	source, err := input.Open(ctx, o, 0)
	if err != nil {
		return nil, err
	}
	return newStreamReader(o, opts, oneBlock{source}, true)
}

// oneBlock is a file that can only be read from its start. All records are in the block at
// offset 0.
type oneBlock struct{ *input.Source }

func (oneBlock) Block(int64) int64 { return 0 }

// newStreamReader reads the lines of the stream; its first byte has the offset 0. It may be the
// first byte of the file.
func newStreamReader(o format.Open, opts Options, source blockSource, first bool) (*streamReader, error) {
	r := &streamReader{
		scan: newScanner(source, 0, opts.Delimiter, o), open: o, source: source, keepMark: opts.KeepMark || !first,
		width: int64(max(1, len(opts.Delimiter))), next: dag.Position{Offset: -1}, at: o.Range.Start, offset: -1,
	}
	if !first {
		r.scan.skip()
		return r, nil
	}
	if err := opts.begin(o, &r.scan); err != nil {
		return nil, errors.Join(err, source.Close())
	}
	return r, nil
}

// Next implements format.Reader. To find the range's start, it reads and drops the records
// before it.
func (r *streamReader) Next() bool {
	for r.err == nil {
		offset := r.scan.offset()
		r.place(offset)
		if !r.next.Less(r.open.Range.End) {
			break
		}
		line, ok := r.scan.scan()
		if !ok {
			r.err = explain(r.open, &r.scan)
			break
		}
		if r.next.Less(r.open.Range.Start) {
			continue
		}
		if offset == 0 && !r.keepMark {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		r.line, r.offset, r.at = line, offset+r.shift, r.next
		return true
	}
	r.line = nil
	return false
}

// place computes the Position of the record at offset. The record belongs to the block that
// holds the first byte of the delimiter before the record: a reader that begins at the next block
// would not recognize a delimiter whose first bytes are in the block before. Of CR LF only the LF
// counts, because such a reader takes an LF alone for a line end.
func (r *streamReader) place(offset int64) {
	block := r.source.Block(offset - r.width)
	if block == r.next.Offset {
		r.next.Skip++
		return
	}
	r.next = dag.Position{Offset: block}
	if offset > 0 {
		r.shift = block - offset
	}
}

// In the first block Offset counts the plain bytes from the file's start. In any other block
// it counts from the block's offset in the file, as Hadoop does. A reader that starts at a
// block cannot know how many plain bytes precede it.
func (r *streamReader) Offset() int64          { return r.offset }
func (r *streamReader) Key() []byte            { return nil }
func (r *streamReader) Value() []byte          { return r.line }
func (r *streamReader) Position() dag.Position { return r.at }
func (r *streamReader) Consumed() int64        { return r.source.Consumed() }
func (r *streamReader) Err() error             { return r.err }
func (r *streamReader) Close() error           { return r.source.Close() }

// openBlocks opens a bzip2 file at the first block of the range. It skips the bytes before
// the first delimiter: they end a record of the previous range.
func openBlocks(ctx context.Context, o format.Open, opts Options) (format.Reader, error) {
	from := o.Range.Start.Offset
	if bzip2.First(from) {
		from = 0
	}
	source, err := input.OpenRaw(ctx, o, from)
	if err != nil {
		return nil, err
	}
	blocks := bzip2.NewReader(input.Name(o), source, from)
	blocks.Limit(o.Range.End.Offset)
	return newStreamReader(o, opts, &bzip2Source{blocks, source, from}, from == 0)
}

// bzip2Source reads the blocks of a bzip2 file and closes the file.
type bzip2Source struct {
	*bzip2.Reader
	file *input.Source
	from int64 // offset at which reading began
}

func (s *bzip2Source) Consumed() int64 { return s.Offset() - s.from }
func (s *bzip2Source) Close() error    { return errors.Join(s.Reader.Close(), s.file.Close()) }
