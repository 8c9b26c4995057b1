package mr

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/hammr/hammr/internal/keys"
)

// arena holds the bytes of the records of a batch.
type arena struct{ bytes []byte }

// copy is a copy of b that is the arena's.
func (a *arena) copy(b []byte) []byte {
	start := len(a.bytes)
	a.bytes = append(a.bytes, b...)
	return a.bytes[start:len(a.bytes):len(a.bytes)]
}

// copyFunc makes of a value that belongs to whoever emits it one that is good for
// as long as an arena is.
type copyFunc[T any] func(a *arena, v T) T

// copyFuncOf is chosen once for a channel. Numbers, strings and what is made of
// them stand alone. Bytes, at fixed places in a value, are copied. What is behind
// pointers and in slices and maps may be used again by whoever emits it: such
// values take the way that they would take to a file.
func copyFuncOf[T any](codec keys.Codec[T]) copyFunc[T] {
	places, fixed := byteSliceOffsets(reflect.TypeFor[T](), 0)
	switch {
	case !fixed && codec == nil:
		return recode(valueCodec[T]())
	case !fixed:
		return recode(codec)
	case len(places) == 0:
		return func(_ *arena, v T) T { return v }
	}
	return func(a *arena, v T) T {
		for _, place := range places {
			b := (*[]byte)(unsafe.Add(unsafe.Pointer(&v), place))
			*b = a.copy(*b)
		}
		return v
	}
}

// byteSliceOffsets are the places in a value, in bytes from its start, of each []byte.
// fixed is false for types that refer to memory in any other way.
func byteSliceOffsets(t reflect.Type, at uintptr) (places []uintptr, fixed bool) {
	switch t.Kind() {
	case reflect.Slice:
		return []uintptr{at}, t.Elem().Kind() == reflect.Uint8
	case reflect.Struct:
		for i := range t.NumField() {
			within, ok := byteSliceOffsets(t.Field(i).Type, at+t.Field(i).Offset)
			if !ok {
				return nil, false
			}
			places = append(places, within...)
		}
		return places, true
	case reflect.Array:
		return nil, t.Len() == 0 || holdsNoPointers(t.Elem())
	case reflect.Pointer, reflect.Map, reflect.Interface, reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return nil, false
	}
	return nil, true
}

func holdsNoPointers(t reflect.Type) bool {
	places, fixed := byteSliceOffsets(t, 0)
	return fixed && len(places) == 0
}

// recode encodes and decodes.
func recode[T any](codec keys.Codec[T]) copyFunc[T] {
	var scratch []byte
	return func(a *arena, v T) T {
		scratch = codec.Append(scratch[:0], v)
		kept, err := codec.Decode(a.copy(scratch))
		if err != nil {
			panic(thrown{fmt.Errorf("decoding what was emitted: %w", err)})
		}
		return kept
	}
}
