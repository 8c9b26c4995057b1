package splits

import (
	"context"
	"fmt"
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/storage"
)

// Resolve returns the file system and the path of a full name.
type Resolve func(name string) (storage.FS, string, error)

// Range returns the whole split in Positions of the split: the offsets of its first part,
// continued over the other parts as if they followed it in one file.
func Range(s *taskproc.Split) dag.Range {
	r := dag.Range{Start: dag.Position{Offset: s.Parts[0].Start}}
	r.End = r.Start
	for _, p := range s.Parts {
		r.End.Offset += p.Length
	}
	return r
}

// Parts reads a range of a split, part after part. It is a format.Reader whose Offset is an
// offset in the current file and whose Position is a Position in the split.
type Parts struct {
	ctx     context.Context
	resolve Resolve
	open    format.Opener
	common  format.Open
	left    []placed // parts that are not open yet

	current  placed
	reader   format.Reader // reader of current; nil before the first part and after Close
	consumed int64         // bytes of the parts before current
	start    dag.Position  // start of the range
	err      error
}

// placed is a part and its position in the split.
type placed struct {
	*taskproc.Split_Part
	shift int64     // position in the split minus position in the file, in bytes
	own   dag.Range // range to be read, in positions of the file
}

// OpenParts reads the records of a range r of a split with readers that open opens. It uses
// only MaxRecord, Buffer and ReadAhead of common. A part is opened when its turn comes, so a
// missing file is an error of Next.
func OpenParts(ctx context.Context, resolve Resolve, open format.Opener, split *taskproc.Split, r dag.Range, common format.Open) *Parts {
	p := &Parts{ctx: ctx, resolve: resolve, open: open, common: common, start: r.Start}
	at := split.Parts[0].Start
	for _, part := range split.Parts {
		q := placed{Split_Part: part, shift: at - part.Start}
		at += part.Length
		if q.within(r) {
			p.left = append(p.left, q)
		}
	}
	if len(p.left) > 0 {
		p.current = p.left[0]
	}
	return p
}

// within sets own to the share of r that lies in the part, and reports whether the share is
// not empty.
func (q *placed) within(r dag.Range) bool {
	start := dag.Position{Offset: q.Start}
	end := dag.Position{Offset: q.Start + q.Length}
	if s := shifted(r.Start, -q.shift); start.Less(s) {
		start = s
	}
	if e := shifted(r.End, -q.shift); e.Less(end) {
		end = e
	}
	q.own = dag.Range{Start: start, End: end}
	return !q.own.Empty()
}

// shifted returns a Position moved by a number of bytes. Skip counts records and does not
// change.
func shifted(p dag.Position, by int64) dag.Position {
	return dag.Position{Offset: p.Offset + by, Skip: p.Skip}
}

// Next implements format.Reader.
func (p *Parts) Next() bool {
	for p.err == nil {
		if p.reader != nil && p.reader.Next() {
			return true
		}
		if !p.nextPart() {
			break
		}
	}
	return false
}

// nextPart opens the part behind the current one. The last one stays open, so that its Position
// and Offset remain valid.
func (p *Parts) nextPart() bool {
	if p.reader != nil {
		p.err = p.reader.Err()
	}
	if p.err != nil || len(p.left) == 0 {
		return false
	}
	if p.err = p.closeReader(); p.err != nil {
		return false
	}
	p.current, p.left = p.left[0], p.left[1:]
	p.reader, p.err = p.openPart(p.current)
	return p.err == nil
}

// openPart opens a reader of one part. Errors name the input.
func (p *Parts) openPart(q placed) (format.Reader, error) {
	fs, path, err := p.resolve(DecodePath(q.Path))
	if err != nil {
		return nil, err
	}
	o := p.common
	o.FS, o.Path, o.Size, o.Range = &submittedFS{fs, q.Split_Part}, path, q.FileSize, q.own
	r, err := p.open(p.ctx, o)
	if err != nil {
		return nil, fmt.Errorf("input %s: %w", DecodePath(q.Path), err)
	}
	return r, nil
}

// closeReader closes the current reader and adds up the bytes that it has consumed. It has
// no effect if no reader is open.
func (p *Parts) closeReader() error {
	if p.reader == nil {
		return nil
	}
	p.consumed += p.reader.Consumed()
	err := p.reader.Close()
	p.reader = nil
	return err
}

func (p *Parts) Offset() int64 { return p.reader.Offset() }

// Key has no spare capacity: a program that appends to it must not write over the next record,
// which the reader has in the same buffer.
func (p *Parts) Key() []byte { return slices.Clip(p.reader.Key()) }

// Value has no spare capacity either.
func (p *Parts) Value() []byte { return slices.Clip(p.reader.Value()) }

// Position returns where the current record begins, in Positions of the split.
func (p *Parts) Position() dag.Position {
	if p.reader == nil {
		return p.start
	}
	return shifted(p.reader.Position(), p.current.shift)
}

// Consumed returns the number of bytes used so far, of all parts.
func (p *Parts) Consumed() int64 {
	if p.reader == nil {
		return p.consumed
	}
	return p.consumed + p.reader.Consumed()
}

func (p *Parts) Err() error   { return p.err }
func (p *Parts) Close() error { return p.closeReader() }

// Path returns the full name of the file of the current record, or of the file that could
// not be read. Before the first Next it returns the file of the first part. For a range
// without parts it returns "".
func (p *Parts) Path() string {
	if p.current.Split_Part == nil {
		return ""
	}
	return DecodePath(p.current.Path)
}
