package text

import (
	"bytes"
	"context"
	"errors"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/input"
)

// plainReader reads a range of a file that is not compressed.
//
//	      start                        end
//	┄┄┄┄┄┄│┄┄┄⏎ first … ⏎ … ⏎ last ┄┄┄┄│┄┄┄⏎
//	      skipped, the reader before    read past the end to finish the last line
//	      has it
type plainReader struct {
	scan   scanner
	open   format.Open
	source *input.Source
	end    int64 // offset before which records of the range begin
	extra  int64 // number of records at or after end that also belong to the range
	begin  int64 // offset of the first record
	line   []byte
	offset int64 // offset of line

	keepMark bool // see Options
	at       dag.Position
	err      error
}

// openPlain opens the file at the offset that lookBehind returns and skips to the first
// record of the range.
func openPlain(ctx context.Context, o format.Open, opts Options) (format.Reader, error) {
	from, err := lookBehind(ctx, o, opts.Delimiter)
	if err != nil {
		return nil, err
	}
	source, err := input.Open(ctx, o, from)
	if err != nil {
		return nil, err
	}
	r := &plainReader{
		scan: newScanner(source, from, opts.Delimiter, o), open: o, source: source, keepMark: opts.KeepMark,
		end: o.Range.End.Offset, extra: o.Range.End.Skip, offset: -1, at: o.Range.Start,
	}
	r.scan.size = o.Size
	if from == 0 {
		if err := opts.begin(o, &r.scan); err != nil {
			return nil, errors.Join(err, source.Close())
		}
	}
	r.findStart()
	return r, nil
}

// findStart moves to the first record at or after the start of the range, and then skips the
// number of records that the start sets.
func (r *plainReader) findStart() {
	start := r.open.Range.Start
	for r.scan.offset() < start.Offset && !r.scan.ended() {
		r.scan.skip()
	}
	for range start.Skip {
		r.scan.skip()
	}
	r.begin = r.scan.offset()
}

// Next implements format.Reader. A record that begins at the end of the range belongs to the
// next range, unless the Skip of the range's end includes it.
func (r *plainReader) Next() bool {
	offset := r.scan.offset()
	if offset >= r.end {
		if r.extra == 0 {
			r.line = nil
			return false
		}
		r.extra--
	}
	line, ok := r.scan.scan()
	if !ok {
		r.line, r.err = nil, explain(r.open, &r.scan)
		return false
	}
	if offset == 0 && !r.keepMark {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	r.line, r.offset = line, offset
	return true
}

func (r *plainReader) Offset() int64 { return r.offset }
func (r *plainReader) Key() []byte   { return nil }
func (r *plainReader) Value() []byte { return r.line }
func (r *plainReader) Err() error    { return r.err }
func (r *plainReader) Close() error  { return r.source.Close() }

// Position implements format.Reader. It returns the offset with Skip 0, so a range can be
// divided at any record.
func (r *plainReader) Position() dag.Position {
	if r.offset < 0 {
		return r.at
	}
	return dag.Position{Offset: r.offset}
}

// Consumed counts from the range's first record, so that the values for all ranges of a file
// sum up to its size.
func (r *plainReader) Consumed() int64 { return r.scan.offset() - r.begin }
