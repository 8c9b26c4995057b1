package lossless

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"time"
	"unsafe"
)

// randomTypes draws types and values that a codec may get wrong.
type randomTypes struct {
	*rand.Rand
	named []reflect.Type // hand-written types
}

// randomKinds are the types without elements.
var randomKinds = []reflect.Type{
	reflect.TypeFor[bool](), reflect.TypeFor[int](), reflect.TypeFor[int64](), reflect.TypeFor[uint8](), reflect.TypeFor[uint64](),
	reflect.TypeFor[float32](), reflect.TypeFor[float64](), reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[any](),
	reflect.TypeFor[any](), reflect.TypeFor[complex128](), reflect.TypeFor[func()](), reflect.TypeFor[chan int](), reflect.TypeFor[error](),
	reflect.TypeFor[struct{}](), reflect.TypeFor[uintptr](),
}

var randomTags = []string{
	"", "", "", "", "", ",omitempty", ",omitempty", ",omitzero", ",string", "-", "-,", "x", "X", "x,omitempty", "é", "a b", `a\"b`,
}

// typ draws a type of at most depth levels.
func (r randomTypes) typ(depth int) reflect.Type {
	if depth == 0 || r.IntN(4) == 0 {
		if r.IntN(3) == 0 {
			return r.named[r.IntN(len(r.named))]
		}
		return randomKinds[r.IntN(len(randomKinds))]
	}
	switch r.IntN(6) {
	case 0:
		return reflect.SliceOf(r.typ(depth - 1))
	case 1:
		return reflect.ArrayOf(r.IntN(3), r.typ(depth-1))
	case 2:
		if k := r.typ(0); k.Comparable() {
			return reflect.MapOf(k, r.typ(depth-1))
		}
		return reflect.MapOf(reflect.TypeFor[string](), r.typ(depth-1))
	case 3:
		return reflect.PointerTo(r.typ(depth - 1))
	}
	return r.structType(depth)
}

// structType draws a struct. One that reflect cannot make becomes an int.
func (r randomTypes) structType(depth int) (t reflect.Type) {
	defer func() {
		if recover() != nil {
			t = reflect.TypeFor[int]()
		}
	}()
	var fields []reflect.StructField
	for i := range r.IntN(5) {
		f := reflect.StructField{Name: fmt.Sprint("F", i), Type: r.typ(depth - 1)}
		if tag := randomTags[r.IntN(len(randomTags))]; tag != "" {
			f.Tag = reflect.StructTag(`json:"` + tag + `"`)
		}
		switch r.IntN(12) {
		case 0:
			f.Name, f.PkgPath = fmt.Sprint("f", i), "keys"
		case 1:
			// reflect cannot promote methods.
			if f.Type.Kind() == reflect.Struct && f.Type.Name() != "" && reflect.PointerTo(f.Type).NumMethod() == 0 {
				f.Anonymous, f.Name = true, f.Type.Name()
			}
		}
		fields = append(fields, f)
	}
	return reflect.StructOf(fields)
}

// value draws a value of a type.
func (r randomTypes) value(t reflect.Type, depth int) reflect.Value {
	v := reflect.New(t).Elem()
	r.fill(v, depth)
	return v
}

var randomStrings = []string{"", "a", "é\u2028<&>", "\uFFFD", `\ufffd`, "\xff", "a\xc3", "\x00"}

func (r randomTypes) fill(v reflect.Value, depth int) {
	switch t := v.Type(); t {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(r.Int64N(1e10), r.Int64N(1e9)).UTC()))
		return
	case reflect.TypeFor[big.Int]():
		v.Addr().Interface().(*big.Int).SetInt64(r.Int64())
		return
	case numberType:
		v.SetString([]string{"", "1", "1.50", "-0"}[r.IntN(4)])
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.IntN(2) == 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt([]int64{0, 1, -1, math.MaxInt64, r.Int64()}[r.IntN(5)])
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint([]uint64{0, 1, math.MaxUint64, r.Uint64()}[r.IntN(4)])
	case reflect.Float32, reflect.Float64:
		v.SetFloat([]float64{0, math.Copysign(0, -1), 1.5, r.NormFloat64(), math.Inf(1), math.NaN(), 1e300}[r.IntN(7)])
	case reflect.Complex64, reflect.Complex128:
		v.SetComplex([]complex128{0, complex(math.Copysign(0, -1), 0), complex(1, 2)}[r.IntN(3)])
	case reflect.String:
		v.SetString(randomStrings[r.IntN(len(randomStrings))])
	case reflect.Interface:
		r.fillAny(v, depth)
	case reflect.Slice, reflect.Map, reflect.Pointer:
		if depth > 0 && r.IntN(4) > 0 {
			r.fillReference(v, depth-1)
		}
	case reflect.Array:
		for i := range v.Len() {
			r.fill(v.Index(i), depth)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Field(i)
			r.fill(reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem(), depth)
		}
	}
}

// fillReference sets a slice, map or pointer that is not nil, but may be empty.
func (r randomTypes) fillReference(v reflect.Value, depth int) {
	n := r.IntN(3)
	switch t := v.Type(); t.Kind() {
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, n, n))
		for i := range n {
			r.fill(v.Index(i), depth)
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		for range n {
			if k := r.value(t.Key(), depth); k.Comparable() && k.Equal(k) {
				v.SetMapIndex(k, r.value(t.Elem(), depth))
			}
		}
	case reflect.Pointer:
		v.Set(r.value(t.Elem(), depth).Addr())
	}
}

// fillAny sets an any to a value of some type, more often one that JSON can restore.
func (r randomTypes) fillAny(v reflect.Value, depth int) {
	if v.Type().NumMethod() > 0 || r.IntN(4) == 0 {
		return
	}
	t := []reflect.Type{reflect.TypeFor[string](), reflect.TypeFor[float64](), reflect.TypeFor[bool](),
		reflect.TypeFor[map[string]any](), reflect.TypeFor[[]any](), reflect.TypeFor[int64](), reflect.TypeFor[[]byte]()}[r.IntN(7)]
	v.Set(r.value(t, max(depth-1, 0)))
}

// identical reports whether a value arrived as it was emitted: DeepEqual where all NaNs are
// equal. skip says which fields are left out.
func identical(a, b reflect.Value, skip func(reflect.StructField) bool) bool {
	if a.IsValid() != b.IsValid() || a.IsValid() && a.Type() != b.Type() {
		return false
	}
	if !a.IsValid() {
		return true
	}
	switch a.Kind() {
	case reflect.Float32, reflect.Float64:
		return a.Float() == b.Float() || a.Float() != a.Float() && b.Float() != b.Float()
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
	case reflect.Func, reflect.Chan:
		return a.IsNil() && b.IsNil()
	}
	switch a.Kind() {
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !identical(a.Index(i), b.Index(i), skip) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for all := a.MapRange(); all.Next(); {
			if !identical(all.Value(), b.MapIndex(all.Key()), skip) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Interface:
		return identical(a.Elem(), b.Elem(), skip)
	case reflect.Struct:
		for i := range a.NumField() {
			if !skip(a.Type().Field(i)) && !identical(a.Field(i), b.Field(i), skip) {
				return false
			}
		}
		return true
	}
	return a.Equal(b)
}
