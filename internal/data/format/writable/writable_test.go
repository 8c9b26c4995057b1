package writable

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"

	"pgregory.net/rapid"
)

// TestVLongIsHadoops compares encodings with the output of Hadoop's
// WritableUtils.writeVLong.
func TestVLongIsHadoops(t *testing.T) {
	for _, c := range []struct {
		value int64
		bytes string
	}{
		{0, "00"}, {1, "01"}, {127, "7f"}, {-1, "ff"}, {-112, "90"},
		{128, "8f80"}, {255, "8fff"}, {256, "8e0100"}, {-113, "8770"}, {-129, "8780"},
		{-256, "87ff"}, {-257, "860100"}, {65535, "8effff"}, {65536, "8d010000"},
		{math.MaxInt32, "8c7fffffff"}, {math.MinInt32, "847fffffff"},
		{math.MaxInt64, "887fffffffffffffff"}, {math.MinInt64, "807fffffffffffffff"},
	} {
		got := AppendVLong(nil, c.value)
		if hex.EncodeToString(got) != c.bytes {
			t.Errorf("AppendVLong(%d) = %x, want %s", c.value, got, c.bytes)
		}
		v, n, err := VLong(append(got, 0xAA))
		if v != c.value || n != len(got) || err != nil {
			t.Errorf("VLong(%x) = %d, %d, %v", got, v, n, err)
		}
	}
}

func TestVIntRefusesMoreThan32Bits(t *testing.T) {
	for _, v := range []int64{math.MaxInt32 + 1, math.MinInt32 - 1, math.MaxInt64} {
		if _, _, err := VInt(AppendVLong(nil, v)); err == nil {
			t.Errorf("VInt took %d", v)
		}
	}
}

func TestRoundTrips(t *testing.T) {
	t.Run("Text", roundTrip(Text, rapid.SliceOf(rapid.Byte()), bytes.Equal))
	t.Run("String", roundTrip(String, rapid.String(), same))
	t.Run("Bytes", roundTrip(Bytes, rapid.SliceOf(rapid.Byte()), bytes.Equal))
	t.Run("Int", roundTrip(Int, rapid.Int32(), same))
	t.Run("Long", roundTrip(Long, rapid.Int64(), same))
	t.Run("VInt", roundTrip(VInt32, rapid.Int32(), same))
	t.Run("VLong", roundTrip(VLong64, rapid.Int64(), same))
	t.Run("Short", roundTrip(Short, rapid.Int16(), same))
	t.Run("Byte", roundTrip(Byte, rapid.Int8(), same))
	t.Run("Float", roundTrip(Float, rapid.Float32(), same))
	t.Run("Double", roundTrip(Double, rapid.Float64(), same))
	t.Run("Boolean", roundTrip(Boolean, rapid.Bool(), same))
	t.Run("Null", roundTrip(Null, rapid.Just(struct{}{}), same))
}

func same[T comparable](a, b T) bool { return a == b }

// roundTrip checks that Decode undoes Append, and that Decode refuses a value with an extra
// or a missing byte.
func roundTrip[T any](c Codec[T], values *rapid.Generator[T], equal func(a, b T) bool) func(*testing.T) {
	return func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			v := values.Draw(t, "value")
			b := c.Append([]byte("before"), v)[len("before"):]
			got, err := c.Decode(b)
			if err != nil || !equal(got, v) {
				t.Fatalf("%x decodes to %v, %v; want %v", b, got, err, v)
			}
			if _, err := c.Decode(append(b, 0)); err == nil {
				t.Fatalf("%x with a byte more decodes", b)
			}
			if len(b) == 0 {
				return
			}
			if _, err := c.Decode(b[:len(b)-1]); err == nil {
				t.Fatalf("%x without its last byte decodes", b)
			}
		})
	}
}

func TestPrinters(t *testing.T) {
	for _, c := range []struct {
		class string
		value []byte
		want  string
	}{
		{Text.Class, String.Append(nil, "grüße\x00"), "grüße\x00"},
		{Text.Class, Text.Append(nil, []byte("a\xffb\xe2\x82c\xf0\x9f\x98")), "a\uFFFDb\uFFFDc\uFFFD"},
		{Text.Class, Text.Append(nil, []byte("\xed\xa0\x80\xc0\xaf")), "\uFFFD\uFFFD\uFFFD\uFFFD\uFFFD"},
		{Bytes.Class, Bytes.Append(nil, []byte{0, 0xAB, 0x7F}), "00 ab 7f"},
		{Bytes.Class, Bytes.Append(nil, nil), ""},
		{Int.Class, Int.Append(nil, -7), "-7"},
		{VLong64.Class, VLong64.Append(nil, 1<<40), "1099511627776"},
		{Boolean.Class, Boolean.Append(nil, true), "true"},
		{Null.Class, nil, "(null)"},
		{Float.Class, Float.Append(nil, 0.1), "0.1"},
		{Double.Class, Double.Append(nil, 0), "0.0"},
		{Double.Class, Double.Append(nil, math.Copysign(0, -1)), "-0.0"},
		{Double.Class, Double.Append(nil, 1e-3), "0.001"},
		{Double.Class, Double.Append(nil, 1e-4), "1.0E-4"},
		{Double.Class, Double.Append(nil, 9999999), "9999999.0"},
		{Double.Class, Double.Append(nil, 1e7), "1.0E7"},
		{Double.Class, Double.Append(nil, -1.25e300), "-1.25E300"},
		{Double.Class, Double.Append(nil, math.NaN()), "NaN"},
		{Double.Class, Double.Append(nil, math.Inf(-1)), "-Infinity"},
	} {
		show, ok := PrinterOf(c.class)
		if !ok {
			t.Fatalf("no printer of %s", c.class)
		}
		got, err := show(nil, c.value)
		if string(got) != c.want || err != nil {
			t.Errorf("%s %x prints %q, %v; want %q", c.class, c.value, got, err, c.want)
		}
	}
	if _, ok := PrinterOf("org.example.Own"); ok {
		t.Error("a printer of an unknown class")
	}
}

func FuzzVLong(f *testing.F) {
	f.Add([]byte{0x8e, 1, 0})
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		v, n, err := VLong(b)
		if err != nil {
			return
		}
		if n < 1 || n > len(b) || n > MaxVLongSize {
			t.Fatalf("%x: %d bytes", b, n)
		}
		if again, _, err := VLong(AppendVLong(nil, v)); again != v || err != nil {
			t.Fatalf("%d encodes to %x, which is %d, %v", v, AppendVLong(nil, v), again, err)
		}
	})
}

func FuzzPrinters(f *testing.F) {
	f.Add([]byte("\x05hello"))
	f.Add([]byte{0, 0, 0, 1, 0xFF})
	f.Fuzz(func(t *testing.T, b []byte) {
		for class, show := range printers {
			out, err := show(nil, b)
			if err == nil && len(out) > 3*len(b)+30 {
				t.Fatalf("%s: %d bytes from %d", class, len(out), len(b))
			}
		}
	})
}
