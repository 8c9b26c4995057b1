package text

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/data/format/input"
)

// Options determine how lines are cut.
type Options struct {
	// Delimiter ends a record instead of LF, CR LF and CR. If it is empty, these line ends
	// apply. Hadoop's textinputformat.record.delimiter.
	Delimiter []byte
	// KeepMark keeps a UTF-8 byte order mark at the start of a file in its first line. Hadoop's
	// LineRecordReader drops it, as the default does.
	KeepMark bool
	// AllowCompressed reads lines from a file that begins as compressed files do. By default
	// such a file is refused, see ErrCompressed.
	AllowCompressed bool
}

// ErrCompressed marks a file that begins as compressed files do, although its extension names
// no codec, or another one. Its lines would be noise.
var ErrCompressed = errors.New("its lines would be noise")

// Lines opens readers whose values are lines; they have no keys.
func Lines(opts Options) format.Opener {
	opts.Delimiter = bytes.Clone(opts.Delimiter)
	if len(opts.Delimiter) == 0 {
		opts.Delimiter = nil
	}
	return func(ctx context.Context, o format.Open) (format.Reader, error) {
		switch codec := compress.ByExtension(o.Path); {
		case codec == nil:
			return openPlain(ctx, o, opts)
		case codec.Splittable() && Splittable(o.Path, opts.Delimiter):
			return openBlocks(ctx, o, opts)
		}
		return openCompressed(ctx, o, opts)
	}
}

// KeyValues opens readers that split each line of Lines at the first separator into key and
// value. A line without a separator is a key with an empty value. Hadoop's separator is a
// tab.
func KeyValues(separator byte, opts Options) format.Opener {
	lines := Lines(opts)
	return func(ctx context.Context, o format.Open) (format.Reader, error) {
		r, err := lines(ctx, o)
		if err != nil {
			return nil, err
		}
		return &keyValueReader{Reader: r, separator: separator}, nil
	}
}

// Splittable reports whether a file can be read from an offset within it. A plain file can.
// A bzip2 file can if the delimiter cannot overlap itself; otherwise the end of a record
// depends on everything before it.
func Splittable(path string, delimiter []byte) bool {
	codec := compress.ByExtension(path)
	return codec == nil || codec.Splittable() && !overlapsItself(delimiter)
}

// overlapsItself reports whether delim ends with its own beginning, as "\n\n" and "aba" do.
// Two such delimiters can share bytes, so earlier delimiters decide whether a delimiter
// counts.
func overlapsItself(delim []byte) bool {
	for n := 1; n < len(delim); n++ {
		if bytes.HasPrefix(delim, delim[n:]) {
			return true
		}
	}
	return false
}

// CutEvery reads o's range once and divides it into ranges of n records each; the last range
// has the remainder. It divides as Hadoop's NLineInputFormat does. The ranges are contiguous
// from the start to the end of o's range.
func CutEvery(ctx context.Context, n int, o format.Open, lines format.Opener) ([]dag.Range, error) {
	if n < 1 {
		return nil, fmt.Errorf("%d lines a split: must be at least 1", n)
	}
	r, err := lines(ctx, o)
	if err != nil {
		return nil, err
	}
	var ranges []dag.Range
	start := o.Range.Start
	for i := 0; r.Next(); i++ {
		if i > 0 && i%n == 0 {
			ranges = append(ranges, dag.Range{Start: start, End: r.Position()})
			start = r.Position()
		}
	}
	ranges = append(ranges, dag.Range{Start: start, End: o.Range.End})
	return ranges, errors.Join(r.Err(), r.Close())
}

var byteOrderMark = []byte("\uFEFF")

// begin refuses a file whose first bytes are no text. The scanner is at the start of the file.
func (opts Options) begin(o format.Open, s *scanner) error {
	head := s.peek(compress.SignatureBytes)
	if name, codec := compress.Detect(head); name != "" && !opts.AllowCompressed {
		remedy := "decompress it first, or store it as .gz, .zst or .bz2"
		if codec != nil && !input.Compressed(o.Path) {
			remedy = "rename it to end in " + codec.Extension()
		}
		return fmt.Errorf("%s: content begins as %s file does, but is not decompressed, so %w; %s", input.Name(o), name, ErrCompressed, remedy)
	}
	return nil
}

// keyValueReader divides each line into key and value, which are views of the line.
type keyValueReader struct {
	format.Reader
	separator  byte
	key, value []byte
}

// Next implements format.Reader. It searches for the separator with bytes.IndexByte.
func (r *keyValueReader) Next() bool {
	if !r.Reader.Next() {
		r.key, r.value = nil, nil
		return false
	}
	line := r.Reader.Value()
	i := bytes.IndexByte(line, r.separator)
	if i < 0 {
		r.key, r.value = line, line[len(line):]
		return true
	}
	r.key, r.value = line[:i], line[i+1:]
	return true
}

func (r *keyValueReader) Key() []byte   { return r.key }
func (r *keyValueReader) Value() []byte { return r.value }

// explain adds the file and the offset to an error of the scanner. A record above the limit
// often means a wrong delimiter, and the error suggests this.
func explain(o format.Open, s *scanner) error {
	switch err := s.failure(); err {
	case nil:
		return nil
	case errTooLong:
		return fmt.Errorf("%s: record at byte %d: longer than the limit of %d bytes; is the delimiter right?", input.Name(o), s.offset(), s.max)
	default:
		return err
	}
}
