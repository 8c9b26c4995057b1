package lossless

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"unicode"
)

// JSONType is a Go type as encoding/json sees it. It is made once for each type, and finds
// what JSON would change without an error. A type that JSON changes whatever its value is
// refused when a job is built (CheckType); what depends on the value is found by
// jsonType.check when the value is encoded.
//
// A type with MarshalJSON and UnmarshalJSON, or MarshalText and UnmarshalText, and a field
// with the tag json:"-" are the decision of the user: they are not examined.
type JSONType struct {
	goType  reflect.Type
	own     bool        // the type has methods for JSON or text
	text    bool        // these are those for text
	key     *JSONType   // of a map
	elem    *JSONType   // of an array, slice, map or pointer
	fields  []jsonField // of a struct, with those of embedded structs
	inspect bool        // some values change without a trace in their encoding
}

// jsonField is a field of a struct that JSON encodes.
type jsonField struct {
	name      string // Go's name
	parent    reflect.Type
	index     []int
	omitEmpty bool
	typ       *JSONType
}

// jsonTypes maps each reflect.Type to its jsonTypeResult.
var jsonTypes sync.Map

type jsonTypeResult struct {
	typ *JSONType
	err error // why JSON changes all values, or most
}

// JSONOf returns the JSONType of t, or why JSON does not suit t.
func JSONOf(t reflect.Type) (*JSONType, error) {
	found, ok := jsonTypes.Load(t)
	if !ok {
		w := jsonWalk{made: make(map[jsonPlace]*JSONType)}
		typ, err := w.walk(jsonPlace{t, true})
		for _, made := range w.made {
			made.inspect = made.needsInspection(make(map[*JSONType]bool))
		}
		found, _ = jsonTypes.LoadOrStore(t, jsonTypeResult{typ, err})
	}
	r := found.(jsonTypeResult)
	return r.typ, r.err
}

// jsonPlace is a type at a place where its values are addressable or not. encoding/json calls
// methods of *T only for an addressable T; the values of a map are not addressable.
type jsonPlace struct {
	goType      reflect.Type
	addressable bool
}

// jsonWalk makes JSONTypes. It makes each place once, so that it ends for recursive types.
type jsonWalk struct{ made map[jsonPlace]*JSONType }

func (w *jsonWalk) walk(p jsonPlace) (*JSONType, error) {
	if j := w.made[p]; j != nil {
		return j, nil
	}
	j := &JSONType{goType: p.goType}
	w.made[p] = j
	if err := j.findMethods(p); err != nil || j.own {
		return j, err
	}
	var err error
	switch t := p.goType; t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		err = fmt.Errorf("JSON has no form for a %v", t)
	case reflect.Interface:
		if t.NumMethod() > 0 {
			err = fmt.Errorf("JSON cannot decode into the interface %v, since it does not say which type to make; use a struct or any", t)
		}
	case reflect.Pointer, reflect.Slice:
		j.elem, err = w.walk(jsonPlace{t.Elem(), true})
	case reflect.Array:
		j.elem, err = w.walk(jsonPlace{t.Elem(), p.addressable})
	case reflect.Map:
		if j.key, err = w.mapKey(t); err == nil {
			j.elem, err = w.walk(jsonPlace{t.Elem(), false})
		}
	case reflect.Struct:
		err = w.addFields(j, t, p.addressable, nil, make(map[string]string))
	}
	return j, err
}

// mapKey makes the JSONType of a map's key. JSON writes keys of strings and integers, and
// those with MarshalText that are no strings.
func (w *jsonWalk) mapKey(t reflect.Type) (*JSONType, error) {
	k := t.Key()
	marshals := k.Implements(reflect.TypeFor[encoding.TextMarshaler]())
	unmarshals := reflect.PointerTo(k).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
	j := &JSONType{goType: k, own: marshals, text: marshals}
	switch kind := k.Kind(); {
	case kind == reflect.String && !unmarshals:
		j.own, j.text = false, false
		return j, nil
	case kind != reflect.String && marshals && unmarshals:
		return j, checkPromoted(k, "MarshalText")
	case reflect.Int <= kind && kind <= reflect.Uintptr && !marshals && !unmarshals:
		return j, nil
	}
	return nil, fmt.Errorf("JSON cannot restore the keys of %v; use strings or integers without UnmarshalText, or another type with MarshalText and UnmarshalText", t)
}

// findMethods finds the methods by which a type encodes and decodes itself, and refuses a
// type that has only half of them.
func (j *JSONType) findMethods(p jsonPlace) error {
	t := p.goType
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return nil // its element decides
	}
	for _, pair := range [...]struct {
		marshal, unmarshal         reflect.Type
		marshalName, unmarshalName string
	}{
		{reflect.TypeFor[json.Marshaler](), reflect.TypeFor[json.Unmarshaler](), "MarshalJSON", "UnmarshalJSON"},
		{reflect.TypeFor[encoding.TextMarshaler](), reflect.TypeFor[encoding.TextUnmarshaler](), "MarshalText", "UnmarshalText"},
	} {
		pointer := reflect.PointerTo(t)
		marshals, unmarshals := t.Implements(pair.marshal), pointer.Implements(pair.unmarshal)
		if !marshals && pointer.Implements(pair.marshal) {
			if marshals = p.addressable; !marshals {
				return fmt.Errorf("JSON does not call %s of *%v for the values of a map; use *%v as its values", pair.marshalName, t, t)
			}
		}
		if marshals != unmarshals {
			return fmt.Errorf("type %v has only one of %s and %s; give it both", t, pair.marshalName, pair.unmarshalName)
		}
		if marshals {
			j.own, j.text = true, pair.marshalName == "MarshalText"
			return checkPromoted(t, pair.marshalName)
		}
	}
	return nil
}

// checkPromoted refuses a struct that has its method only by embedding: the method ignores
// all other fields.
func checkPromoted(t reflect.Type, method string) error {
	if t.Kind() != reflect.Struct || !isPromoted(t, method) {
		return nil
	}
	kept := 0
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("json") != "-" && !isEmptyField(f) {
			kept++
		}
	}
	if kept > 1 {
		return fmt.Errorf("type %v has %s only from a type that it embeds, which ignores the other fields; give the embedded field a name", t, method)
	}
	return nil
}

// isPromoted reports whether a method is that of an embedded field. The compiler generates
// such methods, as it does for *T from a method of T.
func isPromoted(t reflect.Type, method string) bool {
	m, ok := findMethod(t, method)
	if !ok {
		m, ok = findMethod(reflect.PointerTo(t), method)
	}
	if !ok {
		return false
	}
	pc := m.Func.Pointer()
	file, _ := runtime.FuncForPC(pc).FileLine(pc)
	return file == "<autogenerated>"
}

// findMethod finds a method by a constant name: a name that varies would make the linker
// keep all exported methods of a program.
func findMethod(t reflect.Type, name string) (reflect.Method, bool) {
	switch name {
	case "MarshalJSON":
		return t.MethodByName("MarshalJSON")
	case "MarshalText":
		return t.MethodByName("MarshalText")
	case "GobEncode":
		return t.MethodByName("GobEncode")
	}
	return t.MethodByName("MarshalBinary")
}

// isEmptyField reports whether a field has nothing to lose, such as a marker of type
// struct{} or [0]func().
func isEmptyField(f reflect.StructField) bool {
	return f.Name == "_" || !f.IsExported() && f.Type.Size() == 0
}

// addFields adds the fields of the struct t to j. at is the place of t in j.goType, and names
// maps the fields' names in JSON to Go's names.
func (w *jsonWalk) addFields(j *JSONType, t reflect.Type, addressable bool, at []int, names map[string]string) error {
	for i := range t.NumField() {
		f := t.Field(i)
		tag := f.Tag.Get("json")
		if tag == "-" || isEmptyField(f) {
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		if !isJSONName(name) {
			name = ""
		}
		index := append(at[:len(at):len(at)], i)
		if f.Anonymous && name == "" {
			switch {
			case f.Type.Kind() == reflect.Struct:
				if err := w.addFields(j, f.Type, addressable, index, names); err != nil {
					return err
				}
				continue
			case f.Type.Kind() == reflect.Pointer && f.Type.Elem().Kind() == reflect.Struct:
				return fieldErrorf(t, f.Name, "embeds a pointer, which JSON loses if no field of %v is set; embed the struct, or give the field a name", f.Type.Elem())
			}
		}
		if !f.IsExported() {
			return fieldErrorf(t, f.Name, `not exported, so JSON drops it; export it, or leave it out with the tag json:"-"`)
		}
		if name == "" {
			name = f.Name
		}
		if other := names[name]; other != "" {
			return fieldErrorf(t, f.Name, "has the name %q in JSON, as the field %s has, so JSON drops one or both; set other names by tags", name, other)
		}
		names[name] = f.Name
		field := jsonField{name: f.Name, parent: t, index: index, omitEmpty: hasOption(options, "omitempty")}
		var err error
		if field.typ, err = w.walk(jsonPlace{f.Type, addressable}); err == nil {
			err = field.checkOptions(options)
		}
		if err != nil {
			return fieldErrorf(t, f.Name, "%w", err)
		}
		j.fields = append(j.fields, field)
	}
	return nil
}

// checkOptions refuses options of a tag that contradict methods of the field's type.
func (f *jsonField) checkOptions(options string) error {
	t := f.typ
	if hasOption(options, "string") && t.goType.Kind() == reflect.Pointer {
		t = t.elem
	}
	isZero := reflect.TypeFor[interface{ IsZero() bool }]()
	switch {
	case hasOption(options, "string") && t.own:
		return fmt.Errorf("the option string contradicts the methods of %v; leave it out", t.goType)
	case hasOption(options, "omitzero") && !t.own && (t.goType.Implements(isZero) || reflect.PointerTo(t.goType).Implements(isZero)):
		return fmt.Errorf("the option omitzero drops what IsZero of %v accepts; leave it out", t.goType)
	}
	return nil
}

func fieldErrorf(parent reflect.Type, name, format string, args ...any) error {
	return fmt.Errorf("field %s of %v: %w", name, parent, fmt.Errorf(format, args...))
}

func hasOption(options, option string) bool {
	for o := range strings.SplitSeq(options, ",") {
		if o == option {
			return true
		}
	}
	return false
}

// isJSONName reports whether encoding/json accepts a name in a tag.
func isJSONName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}) < 0
}

// needsInspection reports whether a value of the type, or of a type within it, may change
// without a trace in its encoding.
func (j *JSONType) needsInspection(seen map[*JSONType]bool) bool {
	if j == nil || seen[j] {
		return false
	}
	seen[j] = true
	if j.own {
		return false
	}
	switch j.goType.Kind() {
	case reflect.Interface:
		return true
	case reflect.Pointer:
		if j.elem != nil && canBeNull(j.elem) {
			return true
		}
	case reflect.String:
		return j.goType == numberType
	}
	for i := range j.fields {
		if f := &j.fields[i]; f.omitsEmpty() || f.typ.needsInspection(seen) {
			return true
		}
	}
	return j.key.needsInspection(seen) || j.elem.needsInspection(seen)
}

var numberType = reflect.TypeFor[json.Number]()

// canBeNull reports whether JSON writes the zero value of a type as null.
func canBeNull(j *JSONType) bool {
	switch j.goType.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return !j.own
	}
	return false
}

// omitsEmpty reports whether JSON leaves the field out for a value that is empty and not nil.
func (f *jsonField) omitsEmpty() bool {
	kind := f.typ.goType.Kind()
	return f.omitEmpty && (kind == reflect.Slice || kind == reflect.Map)
}
