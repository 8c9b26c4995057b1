package mr

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/data/format/writable"
	"github.com/hammr/hammr/internal/data/keys"
)

// Codec encodes values of T as bytes and decodes them. Implement it where the default does
// not fit. If Append panics, the record fails.
type Codec[T any] = keys.Codec[T]

// Ordered is a Codec whose encodings sort as the values do. Keys need such a codec. The
// encodings of parts of a tuple must be self-delimiting.
type Ordered[T any] = keys.Ordered[T]

// Pair is a key of two components, ordered by First, then Second.
type Pair[A, B any] = keys.Pair[A, B]

// Triple is a key of three components.
type Triple[A, B, C any] = keys.Triple[A, B, C]

// Desc is a key that sorts in descending order.
type Desc[T any] = keys.Desc[T]

// JSON returns a codec for values that encoding/json can encode. Package mrgob has one for gob.
func JSON[T any]() Codec[T] { return keys.JSON[T]{} }

// Proto returns a codec for protobuf messages.
func Proto[T proto.Message]() Codec[T] { return keys.Proto[T]() }

// keyCodec returns the default codec of a key type.
func keyCodec[K any]() (keys.Codec[K], error) {
	if c, ok := keys.OrderedFor[K](); ok {
		return c, nil
	}
	return nil, fmt.Errorf("no ordered codec for keys of type %v: use a string, []byte, number, bool, time.Time, mr.Pair, mr.Triple or mr.Desc, or give a codec with KeyCodec", reflect.TypeFor[K]())
}

// valueCodec returns the default codec of a value type: the codec for keys of that type if
// there is one, protobuf for messages, JSON for the rest.
func valueCodec[V any]() keys.Codec[V] {
	if c, ok := keys.For[V](); ok {
		return c
	}
	return keys.JSON[V]{}
}

// Writable is one of Hadoop's Writable classes, for SequenceFile and
// SequenceOutput.
type Writable[T any] = writable.Codec[T]

// The Writable classes. Text is a []byte that is valid until the next record, TextString a
// string.
var (
	Text            = writable.Text
	TextString      = writable.String
	BytesWritable   = writable.Bytes
	IntWritable     = writable.Int
	LongWritable    = writable.Long
	FloatWritable   = writable.Float
	DoubleWritable  = writable.Double
	BooleanWritable = writable.Boolean
	NullWritable    = writable.Null
)

// appender appends the text form of a value.
type appender[T any] func(dst []byte, v T) []byte

// textOf returns how values of T are written as text: strings and bytes unchanged, numbers
// in decimal, floats with the fewest digits that give the same value, times as RFC 3339, a
// struct{} as no bytes, and anything else in its MarshalText, String or fmt form. The form
// is chosen once per file. A value whose AppendText fails panics with an error that ends the
// attempt.
func textOf[T any]() appender[T] {
	if f, ok := simpleText[T](); ok {
		return f
	}
	switch t := reflect.TypeFor[T](); {
	case t.Implements(reflect.TypeFor[encoding.TextAppender]()):
		return func(dst []byte, v T) []byte {
			out, err := any(v).(encoding.TextAppender).AppendText(dst)
			if err != nil {
				panic(fmt.Errorf("text form of %T: %w", v, err))
			}
			return out
		}
	case isEmpty[T]():
		return func(dst []byte, _ T) []byte { return dst }
	}
	return func(dst []byte, v T) []byte { return fmt.Append(dst, v) }
}

// simpleText returns the appender of a predeclared type, which does not allocate. It returns
// false for any other type.
func simpleText[T any]() (appender[T], bool) {
	var f any
	switch any(*new(T)).(type) {
	case []byte:
		f = appender[[]byte](func(dst, v []byte) []byte { return append(dst, v...) })
	case string:
		f = appender[string](func(dst []byte, v string) []byte { return append(dst, v...) })
	case int:
		f = decimal[int]()
	case int64:
		f = decimal[int64]()
	case int32:
		f = decimal[int32]()
	case uint64:
		f = appender[uint64](func(dst []byte, v uint64) []byte { return strconv.AppendUint(dst, v, 10) })
	case float64:
		f = appender[float64](func(dst []byte, v float64) []byte { return strconv.AppendFloat(dst, v, 'g', -1, 64) })
	case bool:
		f = appender[bool](strconv.AppendBool)
	case time.Time:
		f = appender[time.Time](func(dst []byte, v time.Time) []byte { return v.AppendFormat(dst, time.RFC3339Nano) })
	}
	a, ok := f.(appender[T])
	return a, ok
}

// decimal returns the appender of a whole number.
func decimal[T int | int32 | int64]() appender[T] {
	return func(dst []byte, v T) []byte { return strconv.AppendInt(dst, int64(v), 10) }
}

// isEmpty reports whether T is struct{}, which stands for no value.
func isEmpty[T any]() bool { return reflect.TypeFor[T]() == reflect.TypeFor[struct{}]() }
