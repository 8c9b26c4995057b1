// Package reachable measures the memory of values in tests. It follows all pointers, slices, maps and strings, so the
// result depends on nothing else in the process, unlike the size of the heap. It counts neither what functions capture
// nor the spare space of maps.
package reachable

import "reflect"

// place is a value in memory. Values of two types can begin at the same address.
type place struct {
	at  uintptr
	typ reflect.Type
}

// Bytes returns the bytes of all objects that values refer to, each once. No goroutine may change them meanwhile.
func Bytes(values ...any) (bytes uint64) {
	seen := make(map[place]bool)
	for _, v := range values {
		bytes += below(reflect.ValueOf(v), seen)
	}
	return bytes
}

// below returns the bytes of what a value refers to, without its own. Each place counts once.
func below(v reflect.Value, seen map[place]bool) (bytes uint64) {
	each := func(n int, size uintptr, elem func(int) reflect.Value) {
		bytes += uint64(n) * uint64(size)
		for i := range n {
			bytes += below(elem(i), seen)
		}
	}
	once := func() bool {
		p := place{v.Pointer(), v.Type()}
		first := !seen[p]
		seen[p] = true
		return first
	}
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && once() {
			each(1, v.Type().Elem().Size(), func(int) reflect.Value { return v.Elem() })
		}
	case reflect.Interface:
		if !v.IsNil() {
			each(1, v.Elem().Type().Size(), func(int) reflect.Value { return v.Elem() })
		}
	case reflect.Slice:
		if v.Cap() > 0 && once() {
			whole := v.Slice(0, v.Cap())
			each(v.Cap(), v.Type().Elem().Size(), whole.Index)
		}
	case reflect.Map:
		if !v.IsNil() && once() {
			for all := v.MapRange(); all.Next(); {
				each(1, v.Type().Key().Size(), func(int) reflect.Value { return all.Key() })
				each(1, v.Type().Elem().Size(), func(int) reflect.Value { return all.Value() })
			}
		}
	case reflect.String:
		bytes += uint64(v.Len())
	case reflect.Array:
		each(v.Len(), 0, v.Index)
	case reflect.Struct:
		each(v.NumField(), 0, v.Field)
	}
	return bytes
}
