package shuffle

import (
	"reflect"
	"runtime"
	"unsafe"
)

// references lists where values of a type refer to other memory.
//
// A string never changes, so a fold table may keep it until it is combined, and copies only
// what becomes part of an entry. What slices, maps and pointers reach may change as soon as
// Emit returns, so the table copies it at once.
type references struct {
	strings []uintptr // offsets of strings
	others  []uintptr // offsets of words that are nil if they refer to nothing
}

// referencesOf returns the references of values of type V.
func referencesOf[V any]() (r references) {
	r.add(reflect.TypeFor[V](), 0)
	return r
}

// add adds the references of a value of type t at an offset. A uintptr counts as one, since
// code that has it may mean a pointer.
func (r *references) add(t reflect.Type, offset uintptr) {
	switch k := t.Kind(); {
	case k == reflect.String:
		r.strings = append(r.strings, offset)
	case k == reflect.Array:
		for i := range t.Len() {
			r.add(t.Elem(), offset+uintptr(i)*t.Elem().Size())
		}
	case k == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			r.add(f.Type, offset+f.Offset)
		}
	case k < reflect.Bool || k > reflect.Complex128 || k == reflect.Uintptr:
		r.others = append(r.others, offset)
	}
}

// plain reports whether values have no references.
func (r *references) plain() bool { return len(r.strings)+len(r.others) == 0 }

// onlyStrings reports whether there are strings and nothing else.
func (r *references) onlyStrings() bool { return len(r.strings) > 0 && len(r.others) == 0 }

// reachable reports whether the value at v refers to any memory.
func (r *references) reachable(v unsafe.Pointer) bool {
	for _, at := range r.others {
		if *(*uintptr)(unsafe.Add(v, at)) != 0 {
			return true
		}
	}
	for _, at := range r.strings {
		if len(*(*string)(unsafe.Add(v, at))) > 0 {
			return true
		}
	}
	return false
}

// textStore holds the strings of a table's values in chunks. So a table of such values needs
// no memory on the garbage collected heap: the store keeps all bytes that it refers to. The
// bytes of a string never change, because code of the user may keep the string.
//
//	live ≤ chunks.size; once more than half is garbage, the table moves what is live
type textStore struct {
	chunks longKeys
	live   int64 // total length of the strings in entries

	// Values often have the same string, such as the name of a file. The last source and its
	// copy let such values share the copy.
	source, copied string
}

// keep copies a string. An empty one becomes nil, so that it refers to nothing.
func (s *textStore) keep(v string) string {
	if len(v) == 0 {
		return ""
	}
	s.live += int64(len(v))
	if len(v) != len(s.source) || unsafe.StringData(v) != unsafe.StringData(s.source) {
		place := s.chunks.add(unsafe.Slice(unsafe.StringData(v), len(v)))
		s.source, s.copied = v, unsafe.String(unsafe.SliceData(s.chunks.get(place, len(v))), len(v))
	}
	return s.copied
}

// wasteful reports whether most of the memory is garbage.
func (s *textStore) wasteful() bool { return s.chunks.size > 2*s.live+16*keyChunk }

// keepStrings makes the strings of v belong to the table. v replaces old, whose strings
// belong to the table already.
//
// v is on the stack meanwhile: an entry in an arena must not hold the only reference to a
// string, because the garbage collector does not look there.
func (t *FoldTable[V]) keepStrings(v, old *V) {
	for _, at := range t.refs.strings {
		s := (*string)(unsafe.Add(unsafe.Pointer(v), at))
		was := *(*string)(unsafe.Add(unsafe.Pointer(old), at))
		if len(*s) == len(was) && unsafe.StringData(*s) == unsafe.StringData(was) {
			continue
		}
		t.text.live -= int64(len(was))
		*s = t.text.keep(*s)
	}
}

// compactText moves the strings of all entries to new chunks. The old chunks must stay until
// the end, because the garbage collector may not see the entries.
func (t *FoldTable[V]) compactText() {
	old := t.text
	defer runtime.KeepAlive(&old)
	t.text = textStore{}
	for i := range t.entries {
		if e := &t.entries[i]; e.size > 0 {
			var none V
			v := e.v
			t.keepStrings(&v, &none)
			e.v = v
		}
	}
}

// own copies a value that refers to memory of the caller, by encoding and decoding it. Its
// bytes count as the memory of the value.
func (t *FoldTable[V]) own(v V) V {
	b := t.fold.Append(nil, v)
	t.values += int64(len(b))
	own, err := t.fold.Decode(b)
	t.fail(err)
	return own
}
