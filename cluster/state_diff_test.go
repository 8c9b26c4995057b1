package cluster

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// notCompared lists the fields that may differ between a state and a replica of it, and why that changes nothing
// that Apply does. Every other field, exported or not, must be equal, also if Restore computes it.
var notCompared = map[string]string{
	"State.applying":  "nil between two entries",
	"State.suspected": "its order means nothing; CheckInvariants compares it with the suspicions of the machines",
	"Job.splits":      "not replicated: each master loads them from the file that the job names",
	"Job.loaded":      "see Job.splits",
	"Machine.data":    "it may list tasks whose data has left the machine; CheckInvariants compares the others with the tasks",
}

// stateDiff compares states field by field, by reflection. So it compares every new field, too.
type stateDiff struct {
	notZero map[string]bool     // fields that have a value, see fieldsOf
	replica map[uintptr]uintptr // addresses of objects, by those of the objects of which they are replicas
	found   []string            // differences
}

// differences returns the fields in which a replica differs from a state; notZero gets the fields that have a
// value.
func differences(s, replica *State, notZero map[string]bool) string {
	d := &stateDiff{notZero: notZero, replica: make(map[uintptr]uintptr)}
	d.compare("state", reflect.ValueOf(s), reflect.ValueOf(replica))
	return strings.Join(d.found[:min(len(d.found), 20)], "\n")
}

func (d *stateDiff) differ(path string, a, b any) {
	d.found = append(d.found, fmt.Sprintf("%s: %v, in the replica %v", path, a, b))
}

// compare compares two values of one type. Values that are empty, such as a nil slice and one without elements,
// are equal.
func (d *stateDiff) compare(path string, a, b reflect.Value) {
	switch a.Kind() {
	case reflect.Pointer:
		d.comparePointers(path, a, b)
	case reflect.Struct:
		d.compareStructs(path, a, b)
	case reflect.Map:
		d.compareMaps(path, a, b)
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			d.differ(path, fmt.Sprintf("%d elements %v", a.Len(), a), fmt.Sprintf("%d elements %v", b.Len(), b))
			return
		}
		for i := range a.Len() {
			d.compare(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i))
		}
	default:
		if !a.Comparable() || !a.Equal(b) {
			d.differ(path, a, b)
		}
	}
}

// comparePointers compares what pointers point to. Two pointers to one object are two pointers to one object in the
// replica.
func (d *stateDiff) comparePointers(path string, a, b reflect.Value) {
	if a.IsNil() || b.IsNil() {
		if a.IsNil() != b.IsNil() {
			d.differ(path, !a.IsNil(), !b.IsNil())
		}
		return
	}
	if known, seen := d.replica[a.Pointer()]; seen {
		if known != b.Pointer() {
			d.differ(path, "the same object as before", "another one")
		}
		return
	}
	d.replica[a.Pointer()] = b.Pointer()
	d.compare(path, a.Elem(), b.Elem())
}

func (d *stateDiff) compareStructs(path string, a, b reflect.Value) {
	if a.Type() == reflect.TypeFor[numberSet]() {
		if x, y := members(a), members(b); !slices.Equal(x, y) {
			d.differ(path, x, y)
		}
		return
	}
	for i, f := range fieldsOf(a.Type()) {
		if !isEmpty(a.Field(i)) {
			d.notZero[f] = true
		}
		x, y := a.Field(i), b.Field(i)
		if f == "Stage.totals" { // totals that are missing are 0
			x, y = withoutZeros(x), withoutZeros(y)
		}
		if notCompared[f] == "" {
			d.compare(path+"."+a.Type().Field(i).Name, x, y)
		}
	}
}

// compareMaps compares maps by their keys. An empty set is as none.
func (d *stateDiff) compareMaps(path string, a, b reflect.Value) {
	for _, key := range a.MapKeys() {
		x, y := a.MapIndex(key), b.MapIndex(key)
		switch {
		case y.IsValid():
			d.compare(fmt.Sprintf("%s[%v]", path, key), x, y)
		case !isEmpty(x) || x.Kind() != reflect.Pointer:
			d.differ(fmt.Sprintf("%s[%v]", path, key), x, "none")
		}
	}
	for _, key := range b.MapKeys() {
		if y := b.MapIndex(key); !a.MapIndex(key).IsValid() && (!isEmpty(y) || y.Kind() != reflect.Pointer) {
			d.differ(fmt.Sprintf("%s[%v]", path, key), "none", y)
		}
	}
}

// isEmpty reports whether a value is zero, or has no elements.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil() || v.Type() == reflect.TypeFor[*numberSet]() && len(members(v.Elem())) == 0
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[numberSet]() {
			return len(members(v)) == 0
		}
	}
	return v.IsZero()
}

// members returns the numbers in a numberSet.
func members(set reflect.Value) []int {
	return slices.Collect((*numberSet)(set.Addr().UnsafePointer()).all())
}

// withoutZeros returns a slice without zeros at its end.
func withoutZeros(v reflect.Value) reflect.Value {
	for v.Len() > 0 && v.Index(v.Len()-1).IsZero() {
		v = v.Slice(0, v.Len()-1)
	}
	return v
}

// fieldsOf names the fields of a struct in order, as "Type.Field"; types of other packages with their package.
func fieldsOf(typ reflect.Type) []string {
	names := make([]string, typ.NumField())
	for i := range names {
		names[i] = strings.TrimPrefix(typ.String(), "cluster.") + "." + typ.Field(i).Name
	}
	return names
}

// fieldsBelow adds the fields of all structs that a value of a type can contain, but of those that are not
// compared field by field.
func fieldsBelow(typ reflect.Type, all map[string]bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		fieldsBelow(typ.Elem(), all)
	case reflect.Struct:
		if typ == reflect.TypeFor[numberSet]() {
			return
		}
		for i, f := range fieldsOf(typ) {
			if !all[f] && notCompared[f] == "" {
				all[f] = true
				fieldsBelow(typ.Field(i).Type, all)
			}
		}
	}
}
