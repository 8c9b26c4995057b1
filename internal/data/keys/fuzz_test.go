package keys

import (
	"bytes"
	"testing"
	"time"
)

// FuzzDecode feeds arbitrary bytes to every decoder. If bytes decode, encoding the value and
// decoding it again must give the same encoding.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "a\x00\x01b", "\x00\xff\x00\x01", "\xff\xfe", "12345678", "123456789012"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		stable[[]byte](t, src)
		stable[string](t, src)
		stable[int8](t, src)
		stable[uint16](t, src)
		stable[int32](t, src)
		stable[int](t, src)
		stable[bool](t, src)
		stable[float32](t, src)
		stable[float64](t, src)
		stable[time.Time](t, src)
		stable[Pair[string, int]](t, src)
		stable[Pair[int, []byte]](t, src)
		stable[Triple[Desc[string], uint8, string]](t, src)
		stable[Desc[Pair[string, Desc[string]]]](t, src)
		decodeMessages(src)
	})
}

func stable[T any](t *testing.T, src []byte) {
	c, _ := OrderedFor[T]()
	if v, err := c.Decode(bytes.Clone(src)); err == nil {
		again(t, c.Append(nil, v), c.Decode, c.Append)
	}
	if v, _, err := c.DecodePart(bytes.Clone(src)); err == nil {
		part := func(b []byte) (T, error) { v, _, err := c.DecodePart(b); return v, err }
		again(t, c.AppendPart(nil, v), part, c.AppendPart)
	}
}

func again[T any](t *testing.T, enc []byte, decode func([]byte) (T, error), encode func([]byte, T) []byte) {
	v, err := decode(enc)
	if err != nil {
		t.Fatalf("own encoding % x: %v", enc, err)
	}
	if got := encode(nil, v); !bytes.Equal(got, enc) {
		t.Fatalf("%T %v: % x, then % x", v, v, enc, got)
	}
}

// decodeMessages checks only that the decoder of messages returns.
func decodeMessages(src []byte) { _, _ = JSON[message]{}.Decode(src) }

// FuzzOrder compares two arbitrary strings and numbers made of them.
func FuzzOrder(f *testing.F) {
	f.Add("a", "a\x00")
	f.Add("", "\xff")
	f.Fuzz(func(t *testing.T, a, b string) {
		want := bytes.Compare([]byte(a), []byte(b))
		sameOrder[string](t, a, b, want)
		sameOrder(t, Desc[string]{a}, Desc[string]{b}, -want)
		sameOrder(t, Pair[string, int]{a, 1}, Pair[string, int]{b, 1}, want)
		sameOrder(t, Pair[string, Desc[string]]{"x", Desc[string]{a}}, Pair[string, Desc[string]]{"x", Desc[string]{b}}, -want)
	})
}

func sameOrder[T any](t *testing.T, a, b T, want int) {
	c, _ := OrderedFor[T]()
	if got := bytes.Compare(c.Append(nil, a), c.Append(nil, b)); got != want {
		t.Fatalf("%v, %v compare %d as bytes, want %d", a, b, got, want)
	}
	if got := bytes.Compare(c.AppendPart(nil, a), c.AppendPart(nil, b)); got != want {
		t.Fatalf("%v, %v compare %d as parts, want %d", a, b, got, want)
	}
}
