package lossless

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"sync"
)

// gobTypes maps each reflect.Type to why gob does not suit it, or to a nil error.
var gobTypes sync.Map

// CheckGobType returns why gob drops part of each value of a type, without an error of its
// own. A type with GobEncode and GobDecode, or MarshalBinary and UnmarshalBinary, is the
// decision of the user.
func CheckGobType(t reflect.Type) error {
	found, ok := gobTypes.Load(t)
	if !ok {
		found, _ = gobTypes.LoadOrStore(t, &[1]error{walkGob(t, make(map[reflect.Type]bool))})
	}
	return found.(*[1]error)[0]
}

func walkGob(t reflect.Type, seen map[reflect.Type]bool) error {
	if seen[t] {
		return nil
	}
	seen[t] = true
	if own, err := hasGobMethods(t); own || err != nil {
		return err
	}
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return fmt.Errorf("gob has no form for a %v", t)
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return walkGob(t.Elem(), seen)
	case reflect.Map:
		if comparesPointers(t.Key()) {
			return fmt.Errorf("gob cannot restore the keys of %v; use keys without pointers", t)
		}
		if err := walkGob(t.Key(), seen); err != nil {
			return err
		}
		return walkGob(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if isEmptyField(f) {
				continue
			}
			if !f.IsExported() {
				return fieldErrorf(t, f.Name, "not exported, so gob drops it; export it, or give %v the methods GobEncode and GobDecode", t)
			}
			if err := walkGob(f.Type, seen); err != nil {
				return fieldErrorf(t, f.Name, "%w", err)
			}
		}
	}
	return nil
}

// comparesPointers reports whether two values of a type may differ in a pointer alone. t can be
// the key of a map.
func comparesPointers(t reflect.Type) bool {
	if own, _ := hasGobMethods(t); own {
		return false
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface:
		return true
	case reflect.Array:
		return comparesPointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if comparesPointers(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// gobEncoder and gobDecoder are the interfaces of encoding/gob, which this package does not import: every program
// contains this package.
type (
	gobEncoder interface{ GobEncode() ([]byte, error) }
	gobDecoder interface{ GobDecode([]byte) error }
)

// gobMethods are the pairs of methods that gob calls.
var gobMethods = [...]struct {
	encode, decode         reflect.Type
	encodeName, decodeName string
}{
	{reflect.TypeFor[gobEncoder](), reflect.TypeFor[gobDecoder](), "GobEncode", "GobDecode"},
	{reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.BinaryUnmarshaler](), "MarshalBinary", "UnmarshalBinary"},
}

// hasGobMethods reports whether values of a type encode themselves.
func hasGobMethods(t reflect.Type) (bool, error) {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false, nil // its element decides
	}
	for _, m := range gobMethods {
		pointer := reflect.PointerTo(t)
		encodes, decodes := pointer.Implements(m.encode), pointer.Implements(m.decode)
		if encodes != decodes {
			return false, fmt.Errorf("type %v has only one of %s and %s; give it both", t, m.encodeName, m.decodeName)
		}
		if encodes {
			return true, checkPromoted(t, m.encodeName)
		}
	}
	return false, nil
}

// CheckGob returns why the gob of v decodes to another value; nil if it does not.
func CheckGob(v reflect.Value) error { return checkGob(v, false) }

// checkGob does the work of CheckGob. inField says that the value is a field of a
// struct: gob sends a field only if it is not zero.
func checkGob(v reflect.Value, inField bool) error {
	if own, _ := hasGobMethods(v.Type()); own {
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		return checkGobPointer(v, inField)
	case reflect.Interface:
		if v.IsNil() {
			return nil
		}
		if err := CheckGobType(v.Elem().Type()); err != nil {
			return err
		}
		if v.Elem().Kind() == reflect.Pointer {
			return checkGob(v.Elem().Elem(), false)
		}
		return checkGob(v.Elem(), false)
	case reflect.Slice, reflect.Array:
		return checkGobElements(v)
	case reflect.Map:
		return checkGobMap(v, inField)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); !isEmptyField(f) {
				if err := checkGob(v.Field(i), true); err != nil {
					return fieldErrorf(v.Type(), f.Name, "%w", err)
				}
			}
		}
	}
	return nil
}

// checkGobPointer checks a pointer. gob sends what it points to, so a field that points to a
// zero arrives as nil. An empty struct or array is sent.
func checkGobPointer(v reflect.Value, inField bool) error {
	switch {
	case v.IsNil() && inField:
		return nil
	case v.IsNil():
		return errors.New("a nil pointer that is not a field, which gob cannot decode")
	}
	to := v.Elem()
	kind := to.Kind()
	own, _ := hasGobMethods(to.Type())
	if inField && !own && kind != reflect.Struct && kind != reflect.Array && to.IsZero() {
		return fmt.Errorf("a pointer to a zero %v, which gob makes a nil pointer", to.Type())
	}
	return checkGob(to, inField)
}

func checkGobElements(v reflect.Value) error {
	if v.Kind() == reflect.Slice && v.Len() == 0 && !v.IsNil() {
		return errors.New("a slice that is empty and not nil, which gob makes nil")
	}
	if v.Type().Elem().Kind() == reflect.Uint8 {
		return nil
	}
	for i := range v.Len() {
		if err := checkGob(v.Index(i), false); err != nil {
			return err
		}
	}
	return nil
}

func checkGobMap(v reflect.Value, inField bool) error {
	if v.IsNil() && !inField {
		return errors.New("a nil map that is not a field, which gob makes an empty map")
	}
	for all := v.MapRange(); all.Next(); {
		if err := errors.Join(checkGob(all.Key(), false), checkGob(all.Value(), false)); err != nil {
			return err
		}
	}
	return nil
}
