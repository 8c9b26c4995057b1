package mr

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/format"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/data/format/fixed"
	"github.com/hammr/hammr/internal/data/format/seqfile"
	"github.com/hammr/hammr/internal/data/format/splits"
	"github.com/hammr/hammr/internal/data/format/text"
	"github.com/hammr/hammr/internal/data/format/whole"
	"github.com/hammr/hammr/internal/data/lossless"
	"github.com/hammr/hammr/internal/task"
)

// TextLines reads lines of text: the byte offset of each line, and the line without its end
// (LF, CRLF or CR). It is Hadoop's TextInputFormat. Compressed files are recognized by their
// extension. The property textinputformat.record.delimiter replaces the line ends.
func TextLines() Input[int64, []byte] {
	return &fileInput[int64, []byte]{open: lineOpener, splittable: splittableText, record: offsetAndValue}
}

// TextStrings reads as TextLines does. The mapper may keep the lines.
func TextStrings() Input[int64, string] {
	return &fileInput[int64, string]{open: lineOpener, splittable: splittableText, record: func(r format.Reader) (int64, string) {
		return r.Offset(), string(r.Value())
	}}
}

// offsetAndValue returns the record of formats without keys.
func offsetAndValue(r format.Reader) (int64, []byte) { return r.Offset(), r.Value() }

func lineOpener(c *conf.Conf) format.Opener { return refusing(text.Lines(lineOptions(c))) }

func lineOptions(c *conf.Conf) text.Options {
	return text.Options{
		Delimiter:       []byte(c.String(conf.RecordDelimiter)),
		KeepMark:        c.Bool(conf.KeepByteOrderMark),
		AllowCompressed: c.Bool(conf.CompressedAsLines),
	}
}

// refusing ends the job at once if a file is refused, because each attempt would fail in the
// same way. It names the property that allows the file.
func refusing(open format.Opener) format.Opener {
	return func(ctx context.Context, o format.Open) (format.Reader, error) {
		r, err := open(ctx, o)
		if errors.Is(err, text.ErrCompressed) {
			return nil, &task.FatalError{Err: fmt.Errorf("%w; or set %s=true to read it as it is", err, conf.CompressedAsLines)}
		}
		return r, err
	}
}

// splittableText reports whether a file of lines can be read from an offset within it. A
// compressed file cannot, unless its codec is bzip2.
func splittableText(c *conf.Conf, path string) bool {
	return text.Splittable(path, lineOptions(c).Delimiter)
}

// KeyValueText reads lines and divides each at the first separator into key and value, as
// KeyValueTextInputFormat does. The separator is a tab, or
// mapreduce.input.keyvaluelinerecordreader.key.value.separator. A line without a separator
// is a key with an empty value.
func KeyValueText() Input[[]byte, []byte] {
	return &fileInput[[]byte, []byte]{
		open: func(c *conf.Conf) format.Opener {
			return refusing(text.KeyValues(separator(c), lineOptions(c)))
		},
		splittable: splittableText,
		record:     func(r format.Reader) ([]byte, []byte) { return r.Key(), r.Value() },
	}
}

// separator returns the first byte of the property, or a tab if it is empty.
func separator(c *conf.Conf) byte {
	if s := c.String(conf.KeyValueSeparator); s != "" {
		return s[0]
	}
	return '\t'
}

// NLine reads lines as TextLines does, in splits of mapreduce.input.lineinputformat.linespermap
// lines: Hadoop's NLineInputFormat. The client reads the whole input to find where the splits
// begin.
func NLine() Input[int64, []byte] {
	return &nLine{fileInput[int64, []byte]{open: lineOpener, splittable: splittableText, record: offsetAndValue}}
}

// nLine differs from TextLines only in its splits.
type nLine struct{ fileInput[int64, []byte] }

// Splits implements Input. Its splits do not span files, as with Hadoop.
func (n *nLine) Splits(ctx context.Context, env *InputEnv) ([]Split, error) {
	found, err := env.find(ctx)
	if err != nil {
		return nil, err
	}
	var all []Split
	for _, f := range found {
		cuts, err := cutLines(ctx, env.conf, f)
		if err != nil {
			return nil, err
		}
		all = append(all, cuts...)
	}
	return all, nil
}

// cutLines divides one file into splits of a number of lines. A file that must be read from its
// start is one split, however many lines it has.
func cutLines(ctx context.Context, c *conf.Conf, f splits.File) ([]Split, error) {
	if compress.ByExtension(f.Info.Path) != nil {
		cuts, err := splits.Cut(ctx, splits.Options{Splittable: func(string) bool { return false }}, []splits.File{f})
		return splitsOf(cuts), err
	}
	whole := format.Open{FS: f.FS, Path: f.Info.Path, Size: f.Info.Size, Range: Range{End: Position{Offset: f.Info.Size}}}
	ranges, err := text.CutEvery(ctx, c.Int(conf.LinesPerMap), whole, lineOpener(c))
	if err != nil {
		return nil, err
	}
	cuts, err := splits.CutAt(ctx, f, ranges)
	return splitsOf(cuts), err
}

// WholeFiles reads each file as one record: its full name and its content.
func WholeFiles() Input[string, []byte] {
	return &fileInput[string, []byte]{
		open:       func(*conf.Conf) format.Opener { return whole.Open },
		splittable: func(*conf.Conf, string) bool { return false },
		record:     func(r format.Reader) (string, []byte) { return string(r.Key()), r.Value() },

		emptyRecords: true,
	}
}

// FixedLength reads records of length bytes: their byte offset and content. It is Hadoop's
// FixedLengthInputFormat.
func FixedLength(length int) Input[int64, []byte] {
	return &fileInput[int64, []byte]{
		open:       func(*conf.Conf) format.Opener { return fixed.Records(length) },
		splittable: splittableText,
		record:     offsetAndValue,
	}
}

// JSONLines reads each line as the JSON document of a T. If a line is not such a document, or
// not UTF-8, or escapes half of a character ("\ud800" alone), the task fails with an error that
// names the line. In a field of type any, a number becomes a float64, which has 53 bits.
func JSONLines[T any]() Input[int64, T] { return jsonLines[T]{TextLines()} }

// jsonLines divides its input as TextLines does.
type jsonLines[T any] struct{ Input[int64, []byte] }

// Open implements Input.
func (in jsonLines[T]) Open(t *Task, s Split) (Reader[int64, T], error) {
	lines, err := in.Input.Open(t, s)
	if err != nil {
		return nil, err
	}
	return &jsonReader[T]{Reader: lines, located: lines.(located)}, nil
}

// jsonReader decodes a line when its record is requested, so that a skipped line is not
// decoded. Reader and located are the same reader; located returns the offset of the record.
type jsonReader[T any] struct {
	Reader[int64, []byte]
	located
}

// errNotUTF8 is the error of a line whose strings encoding/json would change.
var errNotUTF8 = errors.New("bytes that are not UTF-8; convert the file, or read it with TextLines")

// Record implements Reader. It panics with an error, which the record loop recovers and blames
// on the record.
func (r *jsonReader[T]) Record() (int64, T) {
	var v T
	offset, line := r.Reader.Record()
	err := errNotUTF8
	if utf8.Valid(line) {
		err = json.Unmarshal(line, &v)
	}
	if err == nil {
		err = checkSurrogates(line)
	}
	if err != nil {
		panic(thrown{fmt.Errorf("line that is not the JSON of a %T: %w", v, err)})
	}
	return offset, v
}

// checkSurrogates refuses escapes of a line that encoding/json would change.
func checkSurrogates(line []byte) error {
	if half := lossless.LoneSurrogate(line); half != "" {
		return fmt.Errorf("%s is half of a character, which JSON would replace; convert the file, or read it with TextLines", half)
	}
	return nil
}

// SequenceFile reads Hadoop's SequenceFiles, as SequenceFileInputFormat does. key and value are
// the classes that the file must hold; an error names both if it holds others. That error ends
// the job at once, because each attempt would fail in the same way.
func SequenceFile[K, V any](key Writable[K], value Writable[V]) Input[K, V] {
	in := sequenceInput[K, V]{key, value}
	return &fileInput[K, V]{
		open:       func(*conf.Conf) format.Opener { return in.open },
		splittable: func(*conf.Conf, string) bool { return true },
		record:     in.record,
	}
}

// sequenceInput provides the functions of a fileInput for two classes.
type sequenceInput[K, V any] struct {
	key   Writable[K]
	value Writable[V]
}

// open returns a format.Opener that also compares the classes in the file's header with the
// classes of the job.
func (in sequenceInput[K, V]) open(ctx context.Context, o format.Open) (format.Reader, error) {
	r, err := seqfile.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	if h := r.Header(); h.KeyClass != in.key.Class || h.ValueClass != in.value.Class {
		return nil, &task.FatalError{Err: fmt.Errorf("%s: SequenceFile of %s and %s, but the job reads %s and %s",
			o.Path, h.KeyClass, h.ValueClass, in.key.Class, in.value.Class)}
	}
	return r, nil
}

// record decodes both halves. It panics with an error, as jsonReader.Record does.
func (in sequenceInput[K, V]) record(r format.Reader) (K, V) {
	key, err := in.key.Decode(r.Key())
	if err != nil {
		panic(thrown{fmt.Errorf("key: %w", err)})
	}
	value, err := in.value.Decode(r.Value())
	if err != nil {
		panic(thrown{fmt.Errorf("value: %w", err)})
	}
	return key, value
}
