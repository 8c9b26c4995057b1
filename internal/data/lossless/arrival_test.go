package lossless

import (
	"bytes"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// messageCodec is JSON or Gob of a type that is known at run time.
type messageCodec struct {
	name      string
	checkType func(reflect.Type) error
	encode    func(reflect.Value) ([]byte, error) // of a pointer
	decode    func([]byte, reflect.Value) error
	skip      func(reflect.StructField) bool // fields that the user leaves out
}

var messageCodecs = []messageCodec{{
	name:      "json",
	checkType: func(t reflect.Type) error { _, err := JSONOf(t); return err },
	encode: func(v reflect.Value) ([]byte, error) {
		j, _ := JSONOf(v.Type().Elem())
		b, err := json.Marshal(v.Interface())
		if err == nil {
			err = j.Check(v.Elem(), b)
		}
		return b, err
	},
	decode: func(b []byte, v reflect.Value) error { return json.Unmarshal(b, v.Interface()) },
	skip:   func(f reflect.StructField) bool { return f.Tag.Get("json") == "-" },
}, {
	name:      "gob",
	checkType: CheckGobType,
	encode: func(v reflect.Value) (_ []byte, err error) {
		defer func() { // gob panics for some nil pointers, which fails the record too
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v", p)
			}
		}()
		var b bytes.Buffer
		if err := CheckGob(v.Elem()); err != nil {
			return nil, err
		}
		err = gob.NewEncoder(&b).Encode(v.Interface())
		return b.Bytes(), err
	},
	decode: func(b []byte, v reflect.Value) error { return gob.NewDecoder(bytes.NewReader(b)).Decode(v.Interface()) },
	skip:   func(reflect.StructField) bool { return false },
}}

// Types that a codec may get wrong, beside those that reflect makes.
type (
	hidden    struct{ sum, N int }
	tagged    struct{ N int }
	inner     struct{ X, Y string }
	Outer     struct{ Z []int }
	embedding struct{ inner }
	shadowing struct {
		inner
		X string
	}
	pointing struct{ *Outer }
	namedOne struct {
		*Outer `json:"o"`
	}
	timed struct {
		time.Time
		N int
	}
	onlyTimed struct{ time.Time }
	fields    struct{ At time.Time }
	both      struct {
		time.Time
		big.Int
	}
	half      struct{ N int }
	textual   string
	textKey   struct{ N int }
	stringKey string
	nonZero   struct{ N int }
	list      struct {
		Next *list
		V    any
	}
	tree    []tree
	ownTime time.Time
	marked  struct {
		_ [0]func()
		N int
	}
	numbered struct{ n int }
)

func (half) MarshalJSON() ([]byte, error)         { return []byte("1"), nil }
func (half) GobEncode() ([]byte, error)           { return nil, nil }
func (t textual) MarshalText() ([]byte, error)    { return []byte(t), nil }
func (t *textual) UnmarshalText(b []byte) error   { *t = textual(b); return nil }
func (k textKey) MarshalText() ([]byte, error)    { return fmt.Append(nil, k.N), nil }
func (k *textKey) UnmarshalText(b []byte) error   { _, err := fmt.Sscan(string(b), &k.N); return err }
func (k *stringKey) UnmarshalText(b []byte) error { *k = stringKey(b) + "!"; return nil }
func (nonZero) IsZero() bool                      { return true }
func (b numbered) MarshalBinary() ([]byte, error) { return fmt.Append(nil, b.n), nil }
func (b *numbered) UnmarshalBinary(src []byte) error {
	_, err := fmt.Sscan(string(src), &b.n)
	return err
}

var handWritten = []reflect.Type{
	reflect.TypeOf(hidden{sum: 1}), reflect.TypeFor[tagged](), reflect.TypeFor[inner](), reflect.TypeFor[Outer](), reflect.TypeFor[embedding](),
	reflect.TypeFor[shadowing](), reflect.TypeFor[pointing](), reflect.TypeFor[namedOne](), reflect.TypeFor[timed](), reflect.TypeFor[onlyTimed](),
	reflect.TypeFor[fields](), reflect.TypeFor[both](), reflect.TypeFor[half](), reflect.TypeFor[textual](), reflect.TypeFor[textKey](),
	reflect.TypeFor[stringKey](), reflect.TypeFor[nonZero](), reflect.TypeFor[list](), reflect.TypeFor[tree](), reflect.TypeFor[ownTime](),
	reflect.TypeFor[marked](), reflect.TypeFor[numbered](), reflect.TypeFor[time.Time](), reflect.TypeFor[big.Int](), reflect.TypeFor[json.Number](),
	reflect.TypeFor[time.Duration](),
}

// TestMessagesArriveAsTheyWereEmitted draws types and values. Each is refused, or decodes to
// what was encoded.
func TestMessagesArriveAsTheyWereEmitted(t *testing.T) {
	for _, c := range messageCodecs {
		t.Run(c.name, func(t *testing.T) { checkMessages(t, c, 1, 4_000) })
	}
}

func checkMessages(t *testing.T, c messageCodec, seed uint64, n int) {
	r := randomTypes{rand.New(rand.NewPCG(seed, 0)), handWritten}
	refusedTypes, refusedValues, kept := 0, 0, 0
	for range n {
		typ := r.typ(3)
		if c.checkType(typ) != nil {
			refusedTypes++
			continue
		}
		for range 3 {
			if c.keeps(t, r.value(typ, 3)) {
				kept++
			} else {
				refusedValues++
			}
		}
	}
	if refusedTypes == 0 || refusedValues == 0 || kept < n/4 {
		t.Errorf("%d types refused, %d values refused, %d values kept of %d types: a one-sided sample", refusedTypes, refusedValues, kept, n)
	}
}

// keeps reports whether the codec accepts a value, which must then decode unchanged.
func (c messageCodec) keeps(t *testing.T, v reflect.Value) bool {
	t.Helper()
	b, err := c.encode(v.Addr())
	if err != nil {
		return false
	}
	got := reflect.New(v.Type())
	if err := c.decode(b, got); err != nil {
		t.Fatalf("%s: %v of %#v\nencoded %q\n%v", c.name, v.Type(), v, b, err)
	}
	if !identical(v, got.Elem(), c.skip) {
		t.Fatalf("%s: %v\nemitted %#v\narrived %#v\nencoded %q", c.name, v.Type(), v, got.Elem(), b)
	}
	return true
}

// FuzzMessages draws a type and a value by the bytes of a seed.
func FuzzMessages(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(func(t *testing.T, seed uint64) {
		for _, c := range messageCodecs {
			r := randomTypes{rand.New(rand.NewPCG(seed, 1)), handWritten}
			if typ := r.typ(4); c.checkType(typ) == nil {
				c.keeps(t, r.value(typ, 4))
			}
		}
	})
}

// twoOfOneName is a type of which go vet warns.
var twoOfOneName = reflect.StructOf([]reflect.StructField{
	{Name: "A", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
	{Name: "B", Type: reflect.TypeFor[int](), Tag: `json:"a"`},
})

// refusals are types and what JSON and gob say of them; "" if they accept them.
var refusals = []struct {
	typ       reflect.Type
	json, gob string
}{
	{reflect.TypeFor[hidden](), "field sum of lossless.hidden: not exported, so JSON drops it; export it, or leave it out with the tag json:\"-\"",
		"field sum of lossless.hidden: not exported, so gob drops it; export it, or give lossless.hidden the methods GobEncode and GobDecode"},
	{reflect.TypeFor[embedding](), "", "field inner of lossless.embedding: not exported"},
	{reflect.TypeFor[shadowing](), `field X of lossless.shadowing: has the name "X" in JSON, as the field X has, so JSON drops one`, "not exported"},
	{reflect.TypeFor[pointing](), "field Outer of lossless.pointing: embeds a pointer", ""},
	{reflect.TypeFor[namedOne](), "", ""},
	{reflect.TypeFor[timed](), "type lossless.timed has MarshalJSON only from a type that it embeds", "type lossless.timed has GobEncode only from a type that it embeds"},
	{reflect.TypeFor[onlyTimed](), "", ""},
	{reflect.TypeFor[both](), "field wall of time.Time: not exported", "type lossless.both has MarshalBinary only"},
	{reflect.TypeFor[half](), "type lossless.half has only one of MarshalJSON and UnmarshalJSON", "type lossless.half has only one of GobEncode and GobDecode"},
	{reflect.TypeFor[[]list](), "", ""},
	{reflect.TypeFor[tree](), "", ""},
	{reflect.TypeFor[ownTime](), "field wall of lossless.ownTime: not exported", "field wall of lossless.ownTime: not exported"},
	{reflect.TypeFor[marked](), "", ""},
	{reflect.TypeFor[numbered](), "field n of lossless.numbered: not exported", ""},
	{reflect.TypeFor[map[string]big.Int](), "JSON does not call MarshalJSON of *big.Int for the values of a map", ""},
	{reflect.TypeFor[map[string]*big.Int](), "", ""},
	{reflect.TypeFor[map[stringKey]int](), "JSON cannot restore the keys of map[lossless.stringKey]int", ""},
	{reflect.TypeFor[map[textKey]int](), "", ""},
	{reflect.TypeFor[map[float64]int](), "JSON cannot restore the keys", ""},
	{reflect.TypeFor[map[*int]int](), "JSON cannot restore the keys", "gob cannot restore the keys"},
	{reflect.TypeFor[[]error](), "JSON cannot decode into the interface error", ""},
	{reflect.TypeFor[complex64](), "JSON has no form for a complex64", ""},
	{reflect.TypeFor[struct{ F func() }](), "field F of struct { F func() }: JSON has no form for a func()", "gob has no form for a func()"},
	{reflect.TypeFor[struct {
		F func() `json:"-"`
	}](), "", "gob has no form for a func()"},
	{twoOfOneName, `has the name "a" in JSON, as the field A has`, ""},
	{reflect.TypeFor[struct {
		A int `json:"a"`
		B int `json:"A"`
	}](), "", ""},
	{reflect.TypeFor[struct {
		A textual `json:",string"`
	}](), "the option string contradicts the methods of lossless.textual", ""},
	{reflect.TypeFor[struct {
		A nonZero `json:",omitzero"`
	}](), "the option omitzero drops what IsZero of lossless.nonZero accepts", ""},
}

func TestRefusedTypes(t *testing.T) {
	for _, c := range refusals {
		for i, want := range []string{c.json, c.gob} {
			codec := messageCodecs[i]
			got := ""
			if err := codec.checkType(c.typ); err != nil {
				got = err.Error()
			}
			if (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("%s of %v: %q, want %q", codec.name, c.typ, got, want)
			}
		}
	}
}

// TestRefusedValues encodes values that would change.
func TestRefusedValues(t *testing.T) {
	type optional struct {
		S []int `json:",omitempty"`
		P **int
		T textual
		M map[string]any
		N json.Number
	}
	one := optional{N: "1"}
	with := func(change func(*optional)) optional { v := one; change(&v); return v }
	var null *int
	for want, v := range map[string]optional{
		"": one,
		"field S of lossless.optional: empty and not nil":                               with(func(v *optional) { v.S = []int{} }),
		"field P of lossless.optional: a pointer to a nil *int":                         with(func(v *optional) { v.P = &null }),
		"field T of lossless.optional: MarshalText of":                                  with(func(v *optional) { v.T = "\xff" }),
		"field M of lossless.optional: key of a map: the string \"\\xff\" is not UTF-8": with(func(v *optional) { v.M = map[string]any{"\xff": nil} }),
		"field M of lossless.optional: a int64 in an any":                               with(func(v *optional) { v.M = map[string]any{"a": int64(1)} }),
		"field M of lossless.optional: a nil []any in an any":                           with(func(v *optional) { v.M = map[string]any{"a": []any(nil)} }),
		"field N of lossless.optional: an empty json.Number":                            with(func(v *optional) { v.N = "" }),
	} {
		if got := messageCodecs[0].refusal(v); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := messageCodecs[0].refusal("\uFFFD \\ufffd"); got != "" {
		t.Errorf("U+FFFD itself: %s", got)
	}
	if got := messageCodecs[1].refusal([]int{}); !strings.Contains(got, "a slice that is empty and not nil") {
		t.Errorf("an empty slice by gob: %q", got)
	}
}

// refusal returns why a value cannot be encoded; "" if it can.
func (c messageCodec) refusal(v any) string {
	p := reflect.New(reflect.TypeOf(v))
	p.Elem().Set(reflect.ValueOf(v))
	if _, err := c.encode(p); err != nil {
		return err.Error()
	}
	return ""
}
