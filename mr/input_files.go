package mr

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/format"
	"github.com/hammr/hammr/internal/format/fixed"
	"github.com/hammr/hammr/internal/format/seqfile"
	"github.com/hammr/hammr/internal/format/splits"
	"github.com/hammr/hammr/internal/format/text"
	"github.com/hammr/hammr/internal/format/whole"
	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// TextLines reads lines of text: the byte offset of each line, and the line
// without its end (LF, CRLF or CR). Compressed files are known by their
// extension. textinputformat.record.delimiter replaces the line ends.
func TextLines() Input[int64, []byte] {
	return &files[int64, []byte]{open: lineOpener, splittable: text.Splittable, record: offsetAndValue}
}

// TextStrings is TextLines with lines that are the mapper's to keep.
func TextStrings() Input[int64, string] {
	return &files[int64, string]{open: lineOpener, splittable: text.Splittable, record: func(r format.Reader) (int64, string) {
		return r.Offset(), string(r.Value())
	}}
}

func offsetAndValue(r format.Reader) (int64, []byte) { return r.Offset(), r.Value() }

func lineOpener(t *Task) format.Opener {
	return text.Lines(text.Options{
		Delimiter: []byte(t.Property(conf.RecordDelimiter)),
	})
}

// KeyValueText reads lines that a separator (a tab, or
// mapreduce.input.keyvaluelinerecordreader.key.value.separator) cuts into key
// and value. A line without one is a key with an empty value.
func KeyValueText() Input[[]byte, []byte] {
	return &files[[]byte, []byte]{
		open: func(t *Task) format.Opener {
			return text.KeyValues(text.Options{
				Delimiter: []byte(t.Property(conf.RecordDelimiter)),
				Separator: []byte(t.Property(conf.KeyValueSeparator)),
			})
		},
		splittable: text.Splittable,
		record:     func(r format.Reader) ([]byte, []byte) { return r.Key(), r.Value() },
	}
}

// NLine reads lines like TextLines, in splits of
// mapreduce.input.lineinputformat.linespermap lines.
func NLine() Input[int64, []byte] {
	return &nLine{files[int64, []byte]{open: lineOpener, splittable: text.Splittable, record: offsetAndValue}}
}

type nLine struct{ files[int64, []byte] }

func (n *nLine) Splits(ctx context.Context, env *InputEnv) ([]*taskproc.Split, error) {
	found, err := storage.Inputs(ctx, env.Files, env.Paths, env.Conf.Bool(conf.InputDirRecursive))
	if err != nil {
		return nil, err
	}
	return splits.CutLines(ctx, env.Conf.Int(conf.LinesPerMap), found)
}

// WholeFiles reads each file as one record: its full name and its content.
func WholeFiles() Input[string, []byte] {
	return &files[string, []byte]{
		open:       func(*Task) format.Opener { return whole.Open },
		splittable: func(string) bool { return false },
		record:     func(r format.Reader) (string, []byte) { return string(r.Key()), r.Value() },
	}
}

// FixedLength reads records of length bytes: their byte offset and content.
func FixedLength(length int) Input[int64, []byte] {
	return &files[int64, []byte]{
		open:       func(*Task) format.Opener { return fixed.Opener(length) },
		splittable: text.Splittable,
		record:     offsetAndValue,
	}
}

// JSONLines reads one JSON document a line as a T. A line that is none fails
// the task, which names it.
func JSONLines[T any]() Input[int64, T] { return jsonLines[T]{TextLines()} }

type jsonLines[T any] struct{ Input[int64, []byte] }

func (in jsonLines[T]) Open(t *Task, s Split) (Reader[int64, T], error) {
	lines, err := in.Input.Open(t, s)
	if err != nil {
		return nil, err
	}
	return &jsonReader[T]{Reader: lines, located: lines.(located)}, nil
}

type jsonReader[T any] struct {
	Reader[int64, []byte]
	located
}

func (r *jsonReader[T]) Record() (int64, T) {
	var v T
	offset, line := r.Reader.Record()
	if err := json.Unmarshal(line, &v); err != nil {
		panic(fmt.Errorf("line that is not the JSON of a %T: %w", v, err))
	}
	return offset, v
}

// SequenceFile reads Hadoop's SequenceFiles. key and value are the classes that
// the file holds; another class is an error that names both.
func SequenceFile[K, V any](key Writable[K], value Writable[V]) Input[K, V] {
	return &sequenceInput[K, V]{key: key, value: value}
}

type sequenceInput[K, V any] struct {
	key   Writable[K]
	value Writable[V]
}

func (in *sequenceInput[K, V]) Splits(ctx context.Context, env *InputEnv) ([]*taskproc.Split, error) {
	return cutFiles(ctx, env, func(string) bool { return true })
}

func (in *sequenceInput[K, V]) Open(t *Task, s Split) (Reader[K, V], error) {
	r, err := splits.Open(t.Context(), t.attempt.Files, s.Split, s.Range, in.open)
	if err != nil {
		return nil, err
	}
	return &fileReader[K, V]{r, in.record}, nil
}

func (in *sequenceInput[K, V]) open(ctx context.Context, o format.Open) (format.Reader, error) {
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

func (in *sequenceInput[K, V]) record(r format.Reader) (K, V) {
	key, err := in.key.Decode(r.Key())
	if err != nil {
		panic(fmt.Errorf("key: %w", err))
	}
	value, err := in.value.Decode(r.Value())
	if err != nil {
		panic(fmt.Errorf("value: %w", err))
	}
	return key, value
}
