// Package whole reads a file as one record. The key is the file's full name. The value is
// the content, decompressed if the extension names a codec. The record is at Position 0; a
// range that does not start there is empty.
package whole

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/input"
)

// Open opens a reader of the whole file; it is a format.Opener. A content longer than
// o.MaxRecord, 2 GiB - 1 by default, is an error. The limit counts plain bytes, because the
// content of a compressed file may be longer than the file.
func Open(ctx context.Context, o format.Open) (format.Reader, error) {
	if o.MaxRecord <= 0 {
		o.MaxRecord = math.MaxInt32
	}
	source, err := input.Open(ctx, o, 0)
	if err != nil {
		return nil, err
	}
	r := &reader{open: o, source: source, offset: -1}
	r.done = !r.owns()
	return r, nil
}

// reader has at most one record. The content stays in memory until Next is called again, so a
// job of large files needs tasks with enough memory.
type reader struct {
	open    format.Open
	source  *input.Source
	content bytes.Buffer
	key     []byte // the full name of the file
	offset  int64  // 0 after the record was read
	done    bool   // the record was read, or the range has no record
	err     error
}

// owns reports whether the record lies in the range. An empty file lies in any range that
// begins at its start; such a range has no bytes, so Contains alone would lose the file.
func (r *reader) owns() bool {
	var start dag.Position
	return r.open.Range.Contains(start) || r.open.Size == 0 && r.open.Range.Start == start
}

// Next implements format.Reader: it reads the file at the first call, if the range owns it.
func (r *reader) Next() bool {
	if r.done {
		r.content.Reset()
		r.key = nil
		return false
	}
	r.done = true
	if r.err = r.read(); r.err != nil {
		return false
	}
	r.key, r.offset = []byte(input.Name(r.open)), 0
	return true
}

// read reads the content. It requests one byte more than the limit, to detect a longer
// content. The size of a plain file is known, so its buffer is allocated once.
func (r *reader) read() error {
	limit := r.open.MaxRecord
	if !input.Compressed(r.open.Path) && r.open.Size <= limit {
		r.content.Grow(int(r.open.Size) + bytes.MinRead)
	}
	n, err := io.Copy(&r.content, io.LimitReader(r.source, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%s: longer than the limit of %d bytes for one record", input.Name(r.open), limit)
	}
	return err
}

func (r *reader) Offset() int64          { return r.offset }
func (r *reader) Key() []byte            { return r.key }
func (r *reader) Value() []byte          { return r.content.Bytes() }
func (r *reader) Position() dag.Position { return dag.Position{} }
func (r *reader) Consumed() int64        { return r.source.Consumed() }
func (r *reader) Err() error             { return r.err }
func (r *reader) Close() error           { return r.source.Close() }
