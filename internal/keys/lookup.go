package keys

import (
	"reflect"
	"time"
	"unsafe"

	"google.golang.org/protobuf/proto"
)

// For returns the default codec of T: the codec from OrderedFor, or Proto for a generated
// protobuf message. It returns false for any other type; the caller then needs a codec from
// the user (JSON and Gob take any struct).
func For[T any]() (Codec[T], bool) {
	if c, ok := OrderedFor[T](); ok {
		return c, true
	}
	var zero T
	if m, ok := any(zero).(proto.Message); ok && reflect.TypeFor[T]().Kind() == reflect.Pointer {
		return protobuf[T]{m.ProtoReflect().Type()}, true
	}
	return nil, false
}

// OrderedFor returns the default ordered codec of T: []byte, string, bool, every integer and
// float type, time.Time, struct{}, Pair, Triple and Desc of such types, and types defined
// from them ("type ID int64"). It is called once a job, not once a record.
func OrderedFor[T any]() (Ordered[T], bool) {
	var zero T
	switch v := any(zero).(type) {
	case time.Time:
		return as[T, time.Time](Time{})
	case struct{}:
		return as[T, struct{}](Empty{})
	case composite:
		if reflect.TypeFor[T]().Kind() == reflect.Struct { // excludes pointers to these types
			c, ok := v.defaultCodec().(Ordered[T])
			return c, ok
		}
	}
	return byKind[T]()
}

// composite is a type of this package that derives its codec from the types of its
// components. The codec is nil when a component has none.
type composite interface{ defaultCodec() any }

// defaultCodec implements composite.
func (Pair[A, B]) defaultCodec() any {
	a, ok1 := OrderedFor[A]()
	b, ok2 := OrderedFor[B]()
	if !ok1 || !ok2 {
		return nil
	}
	return PairOf(a, b)
}

// defaultCodec implements composite.
func (Triple[A, B, C]) defaultCodec() any {
	a, ok1 := OrderedFor[A]()
	b, ok2 := OrderedFor[B]()
	c, ok3 := OrderedFor[C]()
	if !ok1 || !ok2 || !ok3 {
		return nil
	}
	return TripleOf(a, b, c)
}

// defaultCodec implements composite.
func (Desc[T]) defaultCodec() any {
	inner, ok := OrderedFor[T]()
	if !ok {
		return nil
	}
	return Descending(inner)
}

// byKind finds the codec of a predeclared type, or of a type that is defined from one.
func byKind[T any]() (Ordered[T], bool) {
	switch t := reflect.TypeFor[T](); t.Kind() {
	case reflect.String:
		return as[T, string](String{})
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return as[T, []byte](Bytes{})
		}
	case reflect.Bool:
		return as[T, bool](Bool{})
	case reflect.Float32:
		return as[T, float32](Float32{})
	case reflect.Float64:
		return as[T, float64](Float64{})
	}
	return integerByKind[T]()
}

// integerByKind finds the codec of an integer type. int and uint have separate codecs,
// because the codec of another type would need a conversion for each record.
func integerByKind[T any]() (Ordered[T], bool) {
	switch reflect.TypeFor[T]().Kind() {
	case reflect.Int:
		return as[T, int](Signed[int]{})
	case reflect.Int8:
		return as[T, int8](Signed[int8]{})
	case reflect.Int16:
		return as[T, int16](Signed[int16]{})
	case reflect.Int32:
		return as[T, int32](Signed[int32]{})
	case reflect.Int64:
		return as[T, int64](Signed[int64]{})
	case reflect.Uint:
		return as[T, uint](Unsigned[uint]{})
	case reflect.Uint8:
		return as[T, uint8](Unsigned[uint8]{})
	case reflect.Uint16:
		return as[T, uint16](Unsigned[uint16]{})
	case reflect.Uint32:
		return as[T, uint32](Unsigned[uint32]{})
	case reflect.Uint64:
		return as[T, uint64](Unsigned[uint64]{})
	}
	return nil, false
}

// as makes inner a codec of T, whose underlying type is U. If T is U, it returns inner
// itself, which saves each record the calls through defined.
func as[T, U any](inner Ordered[U]) (Ordered[T], bool) {
	if c, same := inner.(Ordered[T]); same {
		return c, true
	}
	return defined[T, U]{inner}, true
}

// defined is the codec of a type T that is defined from U. It converts and calls the codec
// of U. Both types have the same memory layout, so a value is converted without a copy.
type defined[T, U any] struct{ inner Ordered[U] }

func (c defined[T, U]) Append(dst []byte, v T) []byte { return c.inner.Append(dst, convert[U](v)) }

func (c defined[T, U]) Decode(src []byte) (T, error) {
	v, err := c.inner.Decode(src)
	return convert[T](v), err
}

func (c defined[T, U]) AppendPart(dst []byte, v T) []byte {
	return c.inner.AppendPart(dst, convert[U](v))
}

func (c defined[T, U]) DecodePart(src []byte) (T, []byte, error) {
	v, rest, err := c.inner.DecodePart(src)
	return convert[T](v), rest, err
}

func (c defined[T, U]) partLen(src []byte, mask byte) (int, error) {
	return partLen(c.inner, src, mask)
}

// size returns the size of U's codec.
func (c defined[T, U]) size() int {
	if n, ok := fixedSize(c.inner); ok {
		return n
	}
	return -1
}

// convert returns v as a To; both types have the same underlying type.
func convert[To, From any](v From) To { return *(*To)(unsafe.Pointer(&v)) }
