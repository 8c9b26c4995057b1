package keys

import (
	"reflect"
	"time"
	"unsafe"

	"google.golang.org/protobuf/proto"
)

// For returns the default codec of T: the codec from OrderedFor, or Proto for a generated
// protobuf message. It returns false for any other type; the caller then needs a codec from
// the user (JSON and mr/mrgob take any struct).
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
//
// The compiler makes all the code that this function may need for each T of a program, also
// what it never runs. So only three codecs depend on T.
func OrderedFor[T any]() (Ordered[T], bool) {
	var zero T
	t := reflect.TypeFor[T]()
	if v, ok := any(zero).(composite); ok && t.Kind() == reflect.Struct { // excludes pointers to these types
		c, ok := v.defaultCodec().(Ordered[T])
		return c, ok
	}
	u := underlying(t)
	switch c := u.codec.(type) {
	case nil:
		return nil, false
	case Ordered[T]:
		return c, true
	case Ordered[string]:
		return defined[T, string]{c}, true
	case Ordered[[]byte]:
		return defined[T, []byte]{c}, true
	}
	return definedNumber[T]{u.bits}, true
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

// basic is the codec of a type that no other type defines.
type basic struct {
	codec any             // Ordered of the type; nil if it has none
	bits  Ordered[uint64] // the same for its bits, of a number or a bool
}

func number[U any](c Ordered[U]) basic { return basic{c, bitsCodec[U]{c}} }

// underlying finds the codec of the predeclared type that t is, or is defined from. time.Time
// and struct{} have codecs too, but types that are defined from them have none.
func underlying(t reflect.Type) basic {
	switch t.Kind() {
	case reflect.String:
		return basic{codec: String{}}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return basic{codec: Bytes{}}
		}
	case reflect.Bool:
		return number(Bool{})
	case reflect.Float32:
		return number(Float[float32]{})
	case reflect.Float64:
		return number(Float[float64]{})
	case reflect.Struct:
		switch t {
		case reflect.TypeFor[time.Time]():
			return basic{codec: Time{}}
		case reflect.TypeFor[struct{}]():
			return basic{codec: Empty{}}
		}
	}
	return integer(t.Kind())
}

// integer finds the codec of an integer type. int and uint have separate codecs, because the
// codec of another type would need a conversion for each record.
func integer(k reflect.Kind) basic {
	switch k {
	case reflect.Int:
		return number(Signed[int]{})
	case reflect.Int8:
		return number(Signed[int8]{})
	case reflect.Int16:
		return number(Signed[int16]{})
	case reflect.Int32:
		return number(Signed[int32]{})
	case reflect.Int64:
		return number(Signed[int64]{})
	case reflect.Uint:
		return number(Unsigned[uint]{})
	case reflect.Uint8:
		return number(Unsigned[uint8]{})
	case reflect.Uint16:
		return number(Unsigned[uint16]{})
	case reflect.Uint32:
		return number(Unsigned[uint32]{})
	case reflect.Uint64:
		return number(Unsigned[uint64]{})
	}
	return basic{}
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
func (c defined[T, U]) size() int { return sizeOf(c.inner) }

// convert returns v as a To; both types have the same underlying type.
func convert[To, From any](v From) To { return *(*To)(unsafe.Pointer(&v)) }

// definedNumber is the codec of a type T that is defined from a number or bool. It calls the
// codec of that type with the bits of a value.
type definedNumber[T any] struct{ inner Ordered[uint64] }

func (c definedNumber[T]) Append(dst []byte, v T) []byte { return c.inner.Append(dst, toBits(v)) }

func (c definedNumber[T]) Decode(src []byte) (T, error) {
	bits, err := c.inner.Decode(src)
	return fromBits[T](bits), err
}

func (c definedNumber[T]) AppendPart(dst []byte, v T) []byte {
	return c.inner.AppendPart(dst, toBits(v))
}

func (c definedNumber[T]) DecodePart(src []byte) (T, []byte, error) {
	bits, rest, err := c.inner.DecodePart(src)
	return fromBits[T](bits), rest, err
}

func (c definedNumber[T]) partLen(src []byte, mask byte) (int, error) {
	return partLen(c.inner, src, mask)
}

func (c definedNumber[T]) size() int { return sizeOf(c.inner) }

// bitsCodec encodes the bits of values of U, a number or bool, as inner encodes the values.
type bitsCodec[U any] struct{ inner Ordered[U] }

func (c bitsCodec[U]) Append(dst []byte, bits uint64) []byte {
	return c.inner.Append(dst, fromBits[U](bits))
}

func (c bitsCodec[U]) Decode(src []byte) (uint64, error) {
	v, err := c.inner.Decode(src)
	return toBits(v), err
}

func (c bitsCodec[U]) AppendPart(dst []byte, bits uint64) []byte {
	return c.inner.AppendPart(dst, fromBits[U](bits))
}

func (c bitsCodec[U]) DecodePart(src []byte) (uint64, []byte, error) {
	v, rest, err := c.inner.DecodePart(src)
	return toBits(v), rest, err
}

func (c bitsCodec[U]) partLen(src []byte, mask byte) (int, error) {
	return partLen(c.inner, src, mask)
}

func (c bitsCodec[U]) size() int { return sizeOf(c.inner) }

// toBits returns the bits of a number or bool of up to eight bytes.
func toBits[T any](v T) uint64 {
	p := unsafe.Pointer(&v)
	switch unsafe.Sizeof(v) {
	case 1:
		return uint64(*(*uint8)(p))
	case 2:
		return uint64(*(*uint16)(p))
	case 4:
		return uint64(*(*uint32)(p))
	}
	return *(*uint64)(p)
}

// fromBits returns the value whose bits toBits returns.
func fromBits[T any](bits uint64) (v T) {
	p := unsafe.Pointer(&v)
	switch unsafe.Sizeof(v) {
	case 1:
		*(*uint8)(p) = uint8(bits)
	case 2:
		*(*uint16)(p) = uint16(bits)
	case 4:
		*(*uint32)(p) = uint32(bits)
	default:
		*(*uint64)(p) = bits
	}
	return v
}
