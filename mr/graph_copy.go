package mr

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/hammr/hammr/internal/keys"
)

// arena holds copies of the bytes in a batch of records.
type arena struct{ bytes []byte }

// copy returns a copy of b in the arena.
func (a *arena) copy(b []byte) []byte {
	start := len(a.bytes)
	a.bytes = append(a.bytes, b...)
	return a.bytes[start:len(a.bytes):len(a.bytes)]
}

// copyFunc returns a copy of v that is valid as long as the arena, although the emitter may
// reuse the memory of v.
type copyFunc[T any] func(a *arena, v T) T

// copyFuncOf chooses a copyFunc, once for each channel. Numbers, strings and structs of them
// need no copy. A []byte at a fixed offset in the value is copied. What pointers, other
// slices and maps refer to may be reused by the emitter, so such values are encoded and
// decoded, as on the way through a file.
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

// byteSliceOffsets returns the offsets, in bytes from the start of a value, of each []byte.
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

// recode copies a value by encoding and decoding it.
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
