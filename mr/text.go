package mr

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// appender appends the text form of a value.
type appender[T any] func(dst []byte, v T) []byte

// textOf returns how values of T are written as text: strings and bytes as they are, numbers
// in decimal, floats with the fewest digits that read back the same, times as RFC 3339, a
// struct{} as nothing, and anything else in its MarshalText, String or fmt form. It is
// chosen once per file.
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

// simpleText is textOf for the predeclared types. It does not allocate.
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

func decimal[T int | int32 | int64]() appender[T] {
	return func(dst []byte, v T) []byte { return strconv.AppendInt(dst, int64(v), 10) }
}

// isEmpty reports whether T is struct{}, which stands for no value.
func isEmpty[T any]() bool { return reflect.TypeFor[T]() == reflect.TypeFor[struct{}]() }
