package mr

import (
	"fmt"
	"reflect"
	"unsafe"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/keys"
)

// Codec encodes values of T as bytes and decodes them. Implement it where the default does
// not fit. If Append panics, the record fails.
type Codec[T any] = keys.Codec[T]

// Ordered is a Codec whose encodings sort as the values do, as keys need it. The part forms
// stand inside tuples and must be self-delimiting.
type Ordered[T any] = keys.Ordered[T]

// Pair is a key of two components, ordered by First, then Second.
type Pair[A, B any] = keys.Pair[A, B]

// Triple is a key of three components.
type Triple[A, B, C any] = keys.Triple[A, B, C]

// Desc is a key that sorts in descending order.
type Desc[T any] = keys.Desc[T]

// JSON is a codec for values that encoding/json can encode.
func JSON[T any]() Codec[T] { return keys.JSON[T]{} }

// Gob is a codec for values that encoding/gob can encode.
func Gob[T any]() Codec[T] { return keys.Gob[T]{} }

// Proto is a codec for protobuf messages.
func Proto[T proto.Message]() Codec[T] { return keys.Proto[T]() }

// keyCodec is the default codec of a key type.
func keyCodec[K any]() (keys.Codec[K], error) {
	if c, ok := keys.OrderedFor[K](); ok {
		return c, nil
	}
	return nil, fmt.Errorf("no ordered codec for keys of type %v: use a string, []byte, number, bool, time.Time, mr.Pair, mr.Triple or mr.Desc, or give a codec with KeyCodec", reflect.TypeFor[K]())
}

// valueCodec is the default codec of a value type: that of keys if there is one, protobuf
// for messages, JSON for the rest.
func valueCodec[V any]() keys.Codec[V] {
	if c, ok := keys.For[V](); ok {
		return c
	}
	return keys.JSON[V]{}
}

// isBytes reports whether T is []byte. Decoded values of such a type are views of the
// encoded bytes.
func isBytes[T any]() bool {
	t := reflect.TypeFor[T]()
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// bytesOf converts v, of a type for which isBytes holds, to a []byte.
func bytesOf[T any](v *T) *[]byte { return (*[]byte)(unsafe.Pointer(v)) }
