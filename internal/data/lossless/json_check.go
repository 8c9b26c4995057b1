package lossless

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// jsonReplacement is what encoding/json writes for a byte that is not UTF-8. It writes a
// U+FFFD of the value itself in another way.
var jsonReplacement = []byte(`\ufffd`)

// Check returns why encoded, the JSON of v, decodes to another value; nil if
// it does not. It looks at the value only if the type or the encoding gives a reason to.
func (j *JSONType) Check(v reflect.Value, encoded []byte) error {
	if bytes.Contains(encoded, jsonReplacement) {
		return j.check(v, true)
	}
	return j.check(v, false)
}

// check returns why JSON changes a value. texts says whether to look at strings too. v is
// encoded already, so it has no cycles.
func (j *JSONType) check(v reflect.Value, texts bool) error {
	switch {
	case j.own && j.text && texts:
		return checkTextOf(v)
	case j.own || !j.inspect && !texts:
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		return checkString(v, texts)
	case reflect.Interface:
		return checkAny(v, texts)
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if canBeNull(j.elem) && v.Elem().IsNil() {
			return fmt.Errorf("a pointer to a nil %v, which JSON makes a nil pointer; set it to nil", j.elem.goType)
		}
		return j.elem.check(v.Elem(), texts)
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := j.elem.check(v.Index(i), texts); err != nil {
				return err
			}
		}
	case reflect.Map:
		return j.checkMap(v, texts)
	case reflect.Struct:
		return j.checkFields(v, texts)
	}
	return nil
}

func (j *JSONType) checkMap(v reflect.Value, texts bool) error {
	for all := v.MapRange(); all.Next(); {
		if err := j.key.check(all.Key(), texts); err != nil {
			return fmt.Errorf("key of a map: %w", err)
		}
		if err := j.elem.check(all.Value(), texts); err != nil {
			return err
		}
	}
	return nil
}

func (j *JSONType) checkFields(v reflect.Value, texts bool) error {
	for i := range j.fields {
		f := &j.fields[i]
		field := v.FieldByIndex(f.index)
		if f.omitsEmpty() && field.Len() == 0 && !field.IsNil() {
			return fieldErrorf(f.parent, f.name, "empty and not nil, which the tag omitempty makes nil; remove omitempty, or set the field to nil")
		}
		if err := f.typ.check(field, texts); err != nil {
			return fieldErrorf(f.parent, f.name, "%w", err)
		}
	}
	return nil
}

func checkString(v reflect.Value, texts bool) error {
	switch {
	case v.Type() == numberType && v.Len() == 0:
		return errors.New("an empty json.Number, which JSON makes 0; set it to 0")
	case texts && !utf8.ValidString(v.String()):
		return fmt.Errorf("the string %.100q is not UTF-8, which JSON would replace; use a []byte", v.String())
	}
	return nil
}

// checkTextOf checks the text that a value makes of itself.
func checkTextOf(v reflect.Value) error {
	if v.CanAddr() {
		v = v.Addr()
	}
	m, ok := v.Interface().(encoding.TextMarshaler)
	if !ok {
		return nil
	}
	text, err := m.MarshalText()
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("MarshalText of %v returns %.100q, which is not UTF-8, and JSON would replace it", v.Type(), text)
	}
	return err
}

// checkAny checks the value in an any. JSON decodes into an any as bool, float64, string,
// []any and map[string]any, and nothing else.
func checkAny(v reflect.Value, texts bool) error {
	if v.IsNil() {
		return nil
	}
	switch e := v.Elem().Interface().(type) {
	case bool, float64:
		return nil
	case string:
		return checkString(v.Elem(), texts)
	case []any:
		if e == nil {
			return errors.New("a nil []any in an any, which JSON makes a nil any; use nil or an empty slice")
		}
	case map[string]any:
		if e == nil {
			return errors.New("a nil map in an any, which JSON makes a nil any; use nil or an empty map")
		}
	default:
		return fmt.Errorf("a %T in an any, which JSON makes another type; use bool, float64, string, []any or map[string]any, or a field of type %T", e, e)
	}
	j, err := JSONOf(v.Elem().Type())
	if err != nil {
		return err
	}
	return j.check(v.Elem(), texts)
}
