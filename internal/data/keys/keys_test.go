package keys

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// TestDocumentedBytes checks the encodings that docs/formats/keys.md shows.
func TestDocumentedBytes(t *testing.T) {
	for _, c := range []struct{ got, want []byte }{
		{String{}.Append(nil, "a\x00"), []byte("a\x00")},
		{String{}.AppendPart(nil, "a\x00"), []byte("a\x00\xff\x00\x01")},
		{Signed[int32]{}.Append(nil, -1), []byte{0x7F, 0xFF, 0xFF, 0xFF}},
		{Signed[int]{}.Append(nil, 1), []byte{0x80, 0, 0, 0, 0, 0, 0, 1}},
		{Unsigned[uint16]{}.Append(nil, 258), []byte{1, 2}},
		{Float[float64]{}.Append(nil, 1), []byte{0xBF, 0xF0, 0, 0, 0, 0, 0, 0}},
		{Float[float64]{}.Append(nil, math.Inf(-1)), []byte{0x00, 0x0F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}},
		{Bool{}.Append(nil, true), []byte{1}},
		{Time{}.Append(nil, time.Unix(1, 2)), []byte{0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2}},
		{PairOf[string, string](String{}, String{}).Append(nil, Pair[string, string]{"a", "b"}), []byte("a\x00\x01b")},
		{Descending[string](String{}).Append(nil, Desc[string]{"a"}), []byte{0x9E, 0xFF, 0xFE}},
	} {
		if !bytes.Equal(c.got, c.want) {
			t.Errorf("encoded % x, documented % x", c.got, c.want)
		}
	}
}

func TestOrderedForKnowsCompositesAndDefinedTypes(t *testing.T) {
	type key = Pair[Desc[userName], Triple[int, []byte, time.Time]]
	c, ok := OrderedFor[key]()
	if !ok {
		t.Fatal("no codec")
	}
	want := key{Desc[userName]{"n\x00"}, Triple[int, []byte, time.Time]{-4, []byte("x"), time.Unix(9, 9).UTC()}}
	if got, err := c.Decode(c.Append(nil, want)); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
	type raw []byte
	if c, ok := For[raw](); !ok || string(c.Append(nil, raw("x"))) != "x" {
		t.Error("no codec for a type defined from []byte")
	}
	if _, ok := For[struct{}](); !ok {
		t.Error("no codec for struct{}")
	}
}

func TestTypesWithoutDefaultCodec(t *testing.T) {
	refuse[error](t)
	refuse[*int](t)
	refuse[*Pair[int, int]](t)
	refuse[[]int](t)
	refuse[map[string]int](t)
	refuse[struct{ A int }](t)
	refuse[struct{ Pair[int, int] }](t)
	refuse[Pair[int, []int]](t)
	refuse[Triple[int, int, error]](t)
	refuse[Desc[complex128]](t)
}

func refuse[T any](t *testing.T) {
	t.Helper()
	if c, ok := For[T](); ok {
		t.Errorf("%v has the codec %T", reflect.TypeFor[T](), c)
	}
}

func TestMalformedBytesAreErrors(t *testing.T) {
	decodeBad[int32](t, "\x00\x00\x00")
	decodeBad[uint8](t, "")
	decodeBad[float64](t, "1234567")
	decodeBad[bool](t, "\x02")
	decodeBad[time.Time](t, "12345678\xff\xff\xff\xff")
	decodeBad[struct{}](t, "x")
	decodeBad[Pair[string, int]](t, "no end")
	decodeBad[Pair[string, int]](t, "bad escape\x00\x02")
	decodeBad[Desc[int16]](t, "abc")
	decodeBad[Desc[string]](t, "a\xff\xfeb")
}

func decodeBad[T any](t *testing.T, src string) {
	t.Helper()
	c, _ := OrderedFor[T]()
	if v, err := c.Decode([]byte(src)); !errors.Is(err, ErrMalformed) {
		t.Errorf("%q decodes to %v, %v", src, v, err)
	}
}

type message struct {
	Name  string
	Count map[string]int
}

// TestDescendingBytesAreNotShared checks that decoded bytes of two descending parts have memory of
// their own, although short parts of numbers are decoded in memory that is reused.
func TestDescendingBytesAreNotShared(t *testing.T) {
	type key = Pair[Desc[[]byte], Desc[[]byte]]
	c, _ := OrderedFor[key]()
	got, err := c.Decode(c.Append(nil, key{Desc[[]byte]{[]byte("one")}, Desc[[]byte]{[]byte("two")}}))
	if err != nil || string(got.First.Value) != "one" || string(got.Second.Value) != "two" {
		t.Errorf("decoded %q and %q (%v)", got.First.Value, got.Second.Value, err)
	}
}

func TestMessageCodecs(t *testing.T) {
	want := message{"n", map[string]int{"a": 1}}
	for _, c := range []Codec[message]{JSON[message]{}} {
		b := c.Append([]byte("x"), want)
		if b[0] != 'x' {
			t.Errorf("%T overwrites what stands before", c)
		}
		if got, err := c.Decode(b[1:]); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %v, %v", c, got, err)
		}
		if _, err := c.Decode([]byte("{{")); !errors.Is(err, ErrMalformed) {
			t.Errorf("%T: error %v", c, err)
		}
	}
	c, ok := For[*wrapperspb.StringValue]()
	if !ok {
		t.Fatal("no codec for a protobuf message")
	}
	got, err := c.Decode(c.Append(nil, wrapperspb.String("v")))
	if err != nil || !proto.Equal(got, wrapperspb.String("v")) {
		t.Errorf("proto: %v, %v", got, err)
	}
	if _, err := Proto[*wrapperspb.StringValue]().Decode([]byte{0xFF}); !errors.Is(err, ErrMalformed) {
		t.Errorf("proto: error %v", err)
	}
}

func TestAppendPanicsWithEncodeError(t *testing.T) {
	defer func() {
		var e *EncodeError
		if err, _ := recover().(error); !errors.As(err, &e) || e.Codec != "json" {
			t.Errorf("panic value %v", err)
		}
	}()
	JSON[float64]{}.Append(nil, math.Inf(1))
}

func TestNoAllocations(t *testing.T) {
	buf := make([]byte, 0, 256)
	text, word := "hello", []byte("hello")
	var bytesCodec Ordered[[]byte] = Bytes{}
	var stringCodec Ordered[string] = String{}
	ints, _ := OrderedFor[int]()
	ids, _ := OrderedFor[userID]()
	pairs, _ := OrderedFor[Pair[string, int]]()
	descs, _ := OrderedFor[Desc[int]]()
	for name, f := range map[string]func(){
		"bytes":       func() { _, _ = bytesCodec.Decode(bytesCodec.Append(buf, word)) },
		"bytes part":  func() { _, _, _ = bytesCodec.DecodePart(bytesCodec.AppendPart(buf, word)) },
		"string":      func() { stringCodec.Append(buf, text) },
		"string part": func() { stringCodec.AppendPart(buf, text) },
		"view":        func() { _, _ = StringView{}.Decode(word) },
		"int":         func() { _, _ = ints.Decode(ints.Append(buf, 7)) },
		"int part":    func() { _, _, _ = ints.DecodePart(ints.AppendPart(buf, 7)) },
		"defined":     func() { _, _ = ids.Decode(ids.Append(buf, 7)) },
		"pair":        func() { pairs.Append(buf, Pair[string, int]{text, 7}) },
		"group":       func() { _, _ = pairs.(Grouper).GroupLen(pairs.Append(buf, Pair[string, int]{text, 7})) },
		"descending":  func() { _, _ = descs.Decode(descs.Append(buf, Desc[int]{7})) },
	} {
		if n := testing.AllocsPerRun(100, f); n > 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
