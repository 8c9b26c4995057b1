package mr

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unsafe"

	"github.com/hammr/hammr/internal/conf/counter"
)

// Delimited reads lines whose columns are the fields of the struct T: the byte offset of each
// line, and the T. The columns are separated by tabs, or as Separator sets.
//
//	type Order struct {
//		Customer string             // column 1
//		Amount   int64              // column 2
//		Day      []byte `col:"7"`   // column 7
//		Seen     bool   `col:"-"`   // no column
//	}
//
// A field without a tag is in the column after that of the field before it. Fields are
// strings, []byte, integers, floats, bools, types defined from these, and types with
// UnmarshalText. A []byte is valid until the next record. Columns that have no field are
// ignored. Quotes have no meaning: a column ends at the separator or the end of the line.
//
// A bad row has too few columns, or a column that is not of its field's type. It fails the
// task, unless SkipBadRows is set. The error names the column, the file and the offset.
func Delimited[T any]() DelimitedInput[T] {
	columns, err := columnsOf(reflect.TypeFor[T]())
	return DelimitedInput[T]{rows: rowFormat{separator: '\t', columns: columns, err: err}}
}

// DelimitedInput is the Input that Delimited returns. It is a value: its methods return a
// changed copy.
type DelimitedInput[T any] struct {
	rows rowFormat
	skip bool // skip and count bad rows
}

// Separator sets the byte between two columns. It is no line end, letter or digit, and none
// of + - and point, which numbers contain.
func (in DelimitedInput[T]) Separator(b byte) DelimitedInput[T] {
	in.rows.setSeparator(b)
	return in
}

// SkipBadRows skips bad rows. The counter "Map skipped records" counts them.
func (in DelimitedInput[T]) SkipBadRows() DelimitedInput[T] {
	in.skip = true
	return in
}

// declarationError implements declared.
func (in DelimitedInput[T]) declarationError() error { return in.rows.err }

// Splits implements Input. Rows are lines.
func (in DelimitedInput[T]) Splits(ctx context.Context, env *InputEnv) ([]Split, error) {
	if in.rows.err != nil {
		return nil, in.rows.err
	}
	return TextLines().Splits(ctx, env)
}

// Open implements Input.
func (in DelimitedInput[T]) Open(t *Task, s Split) (Reader[int64, T], error) {
	if in.rows.err != nil {
		return nil, in.rows.err
	}
	lines, err := TextLines().Open(t, s)
	if err != nil {
		return nil, err
	}
	return &rowReader[T]{fileReader: lines.(*fileReader[int64, []byte]), task: t, rows: in.rows, skip: in.skip}, nil
}

// rowReader decodes a line when its record is requested, so that a failing record is blamed
// and may be skipped. If bad rows are skipped, it decodes a line when it moves to it.
type rowReader[T any] struct {
	*fileReader[int64, []byte]
	task *Task
	rows rowFormat
	skip bool
	row  T     // the current row; all fields with a column are set for each
	err  error // why the attempt ends among bad rows
}

// Next implements Reader.
func (r *rowReader[T]) Next() bool {
	if !r.skip {
		return r.fileReader.Next()
	}
	for r.fileReader.Next() {
		if _, line := r.fileReader.Record(); r.decode(line) == nil {
			return true
		}
		r.task.node.Attempt.Counters.Add(counter.MapSkippedRecords, 1)
		if r.err = r.task.Context().Err(); r.err != nil {
			return false
		}
	}
	return false
}

func (r *rowReader[T]) decode(line []byte) error {
	return r.rows.decode(unsafe.Pointer(&r.row), line)
}

// Record implements Reader. It panics with an error, as jsonReader.Record does.
func (r *rowReader[T]) Record() (int64, T) {
	offset, line := r.fileReader.Record()
	if !r.skip {
		if err := r.decode(line); err != nil {
			panic(thrown{fmt.Errorf("%w; correct the row, read with SkipBadRows, or set mapreduce.map.skip.maxrecords", err)})
		}
	}
	return offset, r.row
}

// Err implements Reader.
func (r *rowReader[T]) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.fileReader.Err()
}

// DelimitedOutput writes lines of columns, which Delimited reads: the columns of the key,
// then those of the value. A struct, such as mr.Pair, has a column for each field, placed as
// Delimited expects it; a column without a field is empty. Any other key or value is one
// column, and struct{} is none. A text that contains the separator or a line end fails the
// task.
func DelimitedOutput[K, V any]() DelimitedFormat[K, V] {
	key, keyErr := columnsOf(reflect.TypeFor[K]())
	value, valueErr := columnsOf(reflect.TypeFor[V]())
	f := DelimitedFormat[K, V]{keys: len(key), rows: rowFormat{separator: '\t', columns: key, err: keyErr}}
	width := f.rows.width()
	for _, c := range value {
		c.index += width
		f.rows.columns = append(f.rows.columns, c)
	}
	if f.rows.err == nil {
		f.rows.err = valueErr
	}
	return f
}

// DelimitedFormat is the Output that DelimitedOutput returns. It is a value: its methods
// return a changed copy.
type DelimitedFormat[K, V any] struct {
	rows rowFormat
	keys int // the first columns are those of the key
}

// Separator sets the byte between two columns, as that of a DelimitedInput.
func (f DelimitedFormat[K, V]) Separator(b byte) DelimitedFormat[K, V] {
	f.rows.setSeparator(b)
	return f
}

// declarationError implements declared.
func (f DelimitedFormat[K, V]) declarationError() error { return f.rows.err }

// Suffix implements Output.
func (DelimitedFormat[K, V]) Suffix(t *Task) (string, error) { return suffix(t) }

// Create implements Output.
func (f DelimitedFormat[K, V]) Create(t *Task, w io.Writer) (RecordWriter[K, V], error) {
	if f.rows.err != nil {
		return nil, f.rows.err
	}
	s, err := newSink(t, w)
	if err != nil {
		return nil, err
	}
	return &rowWriter[K, V]{sink: s, rows: f.rows, keys: f.keys}, nil
}

// rowWriter appends rows to the sink's buffer. It keeps the current record in fields, so
// that a record costs no allocation.
type rowWriter[K, V any] struct {
	*sink
	rows  rowFormat
	keys  int // number of columns that are in the key
	key   K
	value V
}

// Write implements RecordWriter.
func (w *rowWriter[K, V]) Write(key K, value V) (err error) {
	w.key, w.value = key, value
	b := w.begin()
	at := 0
	record := unsafe.Pointer(&w.key)
	for i := range w.rows.columns {
		if i == w.keys {
			record = unsafe.Pointer(&w.value)
		}
		c := &w.rows.columns[i]
		for ; at < c.index; at++ {
			b = append(b, w.rows.separator)
		}
		start := len(b)
		b = c.append(b, unsafe.Add(record, c.offset))
		if err := w.rows.checkText(c, b[start:]); err != nil {
			return err
		}
	}
	return w.end(append(b, '\n'))
}

// rowFormat is the format of delimited rows.
type rowFormat struct {
	separator byte
	columns   []column // in order of index
	err       error    // why the format cannot be used; nil if it can
}

// setSeparator changes the separator.
func (f *rowFormat) setSeparator(b byte) {
	if strings.IndexByte("\r\n+-.", b) >= 0 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z' {
		f.err = fmt.Errorf("separator %q: use a byte that is no line end, letter or digit, and none of + - and point", b)
	}
	f.separator = b
}

// width returns the number of columns of a row, with those that have no field.
func (f *rowFormat) width() int {
	if len(f.columns) == 0 {
		return 0
	}
	return f.columns[len(f.columns)-1].index + 1
}

// declared is an input or output that may have been declared wrongly. The job reports that
// error before it runs.
type declared interface{ declarationError() error }

// declarationErrorOf returns the error of an input or output; nil if it has none.
func declarationErrorOf(format any) error {
	if d, ok := format.(declared); ok {
		return d.declarationError()
	}
	return nil
}
