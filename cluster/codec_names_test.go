package cluster

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// derived is the tag of a field that snapshots do not have.
const derived = "-"

// TestPersistedFieldsHaveNames requires a cbor tag with a name or a number at every field
// that commands and snapshots write, and at the others of the state that they are derived. So a
// field may be renamed in Go, and data written before still decodes.
func TestPersistedFieldsHaveNames(t *testing.T) {
	types := make(map[reflect.Type]bool)
	for _, v := range verbs {
		collectStructs(v.command, types)
	}
	for _, record := range []any{State{}, Job{}, Task{}} {
		collectStructs(reflect.TypeOf(record), types)
	}
	for typ := range types {
		names := make(map[string]bool)
		for i := range typ.NumField() {
			f := typ.Field(i)
			if !f.IsExported() {
				continue
			}
			name, _, _ := strings.Cut(f.Tag.Get("cbor"), ",")
			if f.Anonymous {
				if name != "" {
					t.Errorf("%v.%s: embedded fields are written as fields of the outer structure and have no name", typ, f.Name)
				}
				continue
			}
			if name == "" || name != derived && names[name] {
				t.Errorf("%v.%s: has no cbor name of its own", typ, f.Name)
			}
			names[name] = true
		}
	}
	if len(types) < len(verbs) {
		t.Errorf("%d structures found for %d commands", len(types), len(verbs))
	}
}

// collectStructs adds the structures that a value of typ consists of.
func collectStructs(typ reflect.Type, into map[reflect.Type]bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		collectStructs(typ.Elem(), into)
	case reflect.Map:
		collectStructs(typ.Key(), into)
		collectStructs(typ.Elem(), into)
	case reflect.Interface:
		panic(fmt.Sprintf("%v in a command or a record: its fields are unknown", typ))
	case reflect.Struct:
		if into[typ] {
			return
		}
		into[typ] = true
		for i := range typ.NumField() {
			if f := typ.Field(i); f.IsExported() && f.Tag.Get("cbor") != derived {
				collectStructs(f.Type, into)
			}
		}
	}
}
