package cluster

import (
	"fmt"
	"reflect"
	"strconv"
)

// The cluster version says which commands, and which fields of them, the log and the snapshots
// may have. It is part of the state and only rises. While masters of several versions of
// hammr work together, the leader proposes nothing that one of them cannot decode: the
// masters that do not know a command have to stop (DecodeEntries).
//
//	3   every command and field that has no other version
//
// A new command gets its version from verb.from in the list of verbs, and a new field from a
// tag beside its cbor tag:
//
//	FilesOf string `cbor:"FilesOf,omitempty" version:"4"`
//
// Such a field must be left out of the encoding when it is zero. A change in what Apply does
// with known commands needs a version too: Apply then asks for State.version.
const (
	// FormatVersion is the newest cluster version that this program supports. A state that no
	// other program shares has it from the start.
	FormatVersion = 3
	// FirstVersion is the oldest cluster version that this program supports, and that of a log
	// without SetVersion.
	FirstVersion = 3
)

// Version returns the cluster version.
func (v View) Version() int { return v.s.Version }

// CheckVersion returns why a command must not be proposed at the present cluster version, nil
// if it may. It does not restrict SetVersion, since its proposer knows what all masters support.
func (v View) CheckVersion(c Command) error {
	if _, raises := c.(SetVersion); raises {
		return nil
	}
	verb := verbsByType[reflect.TypeOf(c)]
	if needed := max(verb.from, newestField(reflect.ValueOf(c))); needed > v.s.Version {
		return fmt.Errorf("%w: this %s needs cluster version %d, and the cluster has version %d until all masters run a version of hammr that supports more; see hammr master status",
			ErrRefused, verb.name, needed, v.s.Version)
	}
	return nil
}

// versionTag is the tag of a field that is newer than FirstVersion.
const versionTag = "version"

// versionOf returns the cluster version of a field, 0 if all versions have it.
func versionOf(f reflect.StructField) int {
	text, tagged := f.Tag.Lookup(versionTag)
	if !tagged {
		return 0
	}
	version, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("cluster: version of field %s: %v", f.Name, err))
	}
	return version
}

// newerFields has what newerFieldsOf returns for the structures in commands (init). Most have none, so most commands are
// not searched at all.
var newerFields = make(map[reflect.Type][]int)

// newerFieldsOf returns the fields of a structure that have a version or may contain such fields, by their index; of a
// list or a pointer, those of what it contains. It keeps what it has found in newerFields if keep is set.
func newerFieldsOf(typ reflect.Type, keep bool) []int {
	if typ = elementOf(typ); typ.Kind() != reflect.Struct {
		return nil
	}
	found, known := newerFields[typ]
	if known {
		return found
	}
	for i := range typ.NumField() {
		if f := typ.Field(i); f.IsExported() && (versionOf(f) > 0 || newerFieldsOf(f.Type, keep) != nil) {
			found = append(found, i)
		}
	}
	if keep {
		newerFields[typ] = found
	}
	return found
}

// newestField returns the version of the newest field that is set in a value; 0 for none with a
// version.
func newestField(v reflect.Value) (newest int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			newest = newestField(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if newerFieldsOf(v.Type(), false) == nil {
			break
		}
		for i := range v.Len() {
			newest = max(newest, newestField(v.Index(i)))
		}
	case reflect.Struct:
		for _, i := range newerFieldsOf(v.Type(), false) {
			if field := v.Field(i); !field.IsZero() {
				newest = max(newest, versionOf(v.Type().Field(i)), newestField(field))
			}
		}
	}
	return newest
}

// elementOf returns the type of what pointers, slices and arrays finally contain.
func elementOf(typ reflect.Type) reflect.Type {
	for typ.Kind() == reflect.Pointer || typ.Kind() == reflect.Slice || typ.Kind() == reflect.Array {
		typ = typ.Elem()
	}
	return typ
}

// checkSupported returns an error for a cluster version that this program does not support.
func checkSupported(version int) error {
	if version < FirstVersion || version > FormatVersion {
		return fmt.Errorf("the cluster has version %d, and this version of hammr supports versions %d to %d: install the version of hammr that the other masters run",
			version, FirstVersion, FormatVersion)
	}
	return nil
}
