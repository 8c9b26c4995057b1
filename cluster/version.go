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
//	1   every command and field of the releases before there was a cluster version
//	2   SetVersion; dag.Edge.FilesOf; machines of kept files (combineSet); DrainMachine.UntilRestart;
//	    Machine.DrainDeadline; the number of restores, and numbers of attempts after one; users in entries;
//	    PreemptAttempt.For; the end of attempts whose output is restored; suspended attempts on drained machines;
//	    sums of outputs
//
// A new command gets its version from verb.from in the list of verbs, and a new field from a
// tag beside its cbor tag:
//
//	FilesOf string `cbor:"FilesOf,omitempty" version:"2"`
//
// Such a field must be left out of the encoding when it is zero. A change in what Apply does
// with known commands needs a version too: Apply then asks for State.version.
const (
	// FormatVersion is the newest cluster version that this program supports. A state that no
	// other program shares has it from the start.
	FormatVersion = 2
	// FirstVersion is the cluster version of a log without SetVersion.
	FirstVersion = 1
)

// Version returns the cluster version.
func (v View) Version() int { return v.s.version }

// NamesBeneficiaries reports whether PreemptAttempt may have For.
func (v View) NamesBeneficiaries() bool { return v.s.version >= 2 }

// HasSums reports whether Segments may have sums.
func (v View) HasSums() bool { return v.s.version >= 2 }

// NamesUsers reports whether entries may have a user.
func (v View) NamesUsers() bool { return v.s.version >= 2 }

// CheckVersion returns why a command must not be proposed at the present cluster version, nil
// if it may. It does not restrict SetVersion, since its proposer knows what all masters support.
func (v View) CheckVersion(c Command) error {
	if _, raises := c.(SetVersion); raises || v.s.version >= FormatVersion {
		return nil
	}
	stored := reflect.ValueOf(storedForm(c))
	verb := verbsByType[stored.Type()]
	if needed := max(verb.from, newestField(stored)); needed > v.s.version {
		return fmt.Errorf("%w: this %s needs cluster version %d, and the cluster has version %d until all masters run a version of hammr that supports more; see hammr master status",
			ErrRefused, verb.name, needed, v.s.version)
	}
	return nil
}

// Version returns the cluster version that masters and tasknodes must support to run a job.
func (s *JobSpec) Version() int { return newestField(reflect.ValueOf(s)) }

// versionTag is the tag of a field that is newer than FirstVersion.
const versionTag = "version"

// versionOf returns the cluster version of a field.
func versionOf(f reflect.StructField) int {
	text, tagged := f.Tag.Lookup(versionTag)
	if !tagged {
		return FirstVersion
	}
	version, err := strconv.Atoi(text)
	if err != nil {
		panic(fmt.Sprintf("cluster: version of field %s: %v", f.Name, err))
	}
	return version
}

// newerFields lists, for each structure in a command, the fields that are newer than
// FirstVersion or may contain such fields, by their index. It has no other structures, so most
// commands are not searched at all.
var newerFields = make(map[reflect.Type][]int)

// findNewerFields fills newerFields for a type, and reports whether its values may have a newer
// field.
func findNewerFields(typ reflect.Type) bool {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return findNewerFields(typ.Elem())
	case reflect.Struct:
		var found []int
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.IsExported() && (findNewerFields(f.Type) || versionOf(f) > FirstVersion) {
				found = append(found, i)
			}
		}
		if found != nil {
			newerFields[typ] = found
		}
		return found != nil
	}
	return false
}

// newestField returns the version of the newest field that is set in a value.
func newestField(v reflect.Value) int {
	newest := FirstVersion
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			newest = newestField(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		if element := elementOf(v.Type()); newerFields[element] == nil {
			break
		}
		for i := range v.Len() {
			newest = max(newest, newestField(v.Index(i)))
		}
	case reflect.Struct:
		for _, i := range newerFields[v.Type()] {
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
	if version > FormatVersion {
		return fmt.Errorf("the cluster has version %d, and this version of hammr supports versions %d to %d: install the version of hammr that the other masters run",
			version, FirstVersion, FormatVersion)
	}
	return nil
}
