package keys

import (
	"bytes"
	"cmp"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// law states what a codec of T must satisfy: values drawn from gen survive a round trip, and
// their encodings compare as compare does.
type law[T any] struct {
	codec   Ordered[T]
	gen     *rapid.Generator[T]
	compare func(a, b T) int
}

func (l law[T]) check(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := l.gen.Draw(t, "a"), l.gen.Draw(t, "b")
		encA, encB := l.codec.Append(nil, a), l.codec.Append(nil, b)
		if got, want := bytes.Compare(encA, encB), l.compare(a, b); got != want {
			t.Fatalf("bytes compare %d, values %d: %v % x, %v % x", got, want, a, encA, b, encB)
		}
		if got, err := l.codec.Decode(encA); err != nil || l.compare(got, a) != 0 {
			t.Fatalf("decoded %v, %v; want %v", got, err, a)
		}
		l.checkPart(t, a, b)
	})
}

func (l law[T]) checkPart(t *rapid.T, a, b T) {
	partA, partB := l.codec.AppendPart(nil, a), l.codec.AppendPart(nil, b)
	if got, want := bytes.Compare(partA, partB), l.compare(a, b); got != want {
		t.Fatalf("parts compare %d, values %d: % x, % x", got, want, partA, partB)
	}
	if want := l.compare(a, b); want != 0 && (bytes.HasPrefix(partA, partB) || bytes.HasPrefix(partB, partA)) {
		t.Fatalf("one part is a prefix of the other: % x, % x", partA, partB)
	}
	tail := rapid.SliceOf(rapid.Byte()).Draw(t, "tail")
	got, rest, err := l.codec.DecodePart(append(bytes.Clone(partA), tail...))
	if err != nil || l.compare(got, a) != 0 || !bytes.Equal(rest, tail) {
		t.Fatalf("decoded part %v, rest % x, %v; want %v, % x", got, rest, err, a, tail)
	}
	n, err := partLen(l.codec, append(bytes.Clone(partA), tail...), 0)
	if err != nil || n != len(partA) {
		t.Fatalf("part length %d, %v; want %d", n, err, len(partA))
	}
}

// checkAll checks the law for the codec alone, descending, twice descending and in tuples on
// either side.
func checkAll[T any](t *testing.T, l law[T]) {
	t.Run("plain", l.check)
	desc := descendingLaw(l)
	t.Run("descending", desc.check)
	t.Run("descending twice", descendingLaw(desc).check)
	text := law[string]{String{}, strings012(), strings.Compare}
	t.Run("first of a pair", pairLaw(l, text).check)
	t.Run("second of a pair", pairLaw(text, l).check)
	t.Run("descending pair", descendingLaw(pairLaw(text, desc)).check)
	t.Run("middle of a triple", tripleLaw(text, desc, text).check)
}

func descendingLaw[T any](l law[T]) law[Desc[T]] {
	return law[Desc[T]]{
		Descending(l.codec),
		rapid.Map(l.gen, func(v T) Desc[T] { return Desc[T]{v} }),
		func(a, b Desc[T]) int { return l.compare(b.Value, a.Value) },
	}
}

func pairLaw[A, B any](a law[A], b law[B]) law[Pair[A, B]] {
	return law[Pair[A, B]]{
		PairOf(a.codec, b.codec),
		rapid.Custom(func(t *rapid.T) Pair[A, B] { return Pair[A, B]{a.gen.Draw(t, "1"), b.gen.Draw(t, "2")} }),
		func(x, y Pair[A, B]) int {
			return cmp.Or(a.compare(x.First, y.First), b.compare(x.Second, y.Second))
		},
	}
}

func tripleLaw[A, B, C any](a law[A], b law[B], c law[C]) law[Triple[A, B, C]] {
	return law[Triple[A, B, C]]{
		TripleOf(a.codec, b.codec, c.codec),
		rapid.Custom(func(t *rapid.T) Triple[A, B, C] {
			return Triple[A, B, C]{a.gen.Draw(t, "1"), b.gen.Draw(t, "2"), c.gen.Draw(t, "3")}
		}),
		func(x, y Triple[A, B, C]) int {
			return cmp.Or(a.compare(x.First, y.First), b.compare(x.Second, y.Second), c.compare(x.Third, y.Third))
		},
	}
}

// strings012 draws short strings of few letters, so that prefixes, escapes and
// equal values are common.
func strings012() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]byte{0, 1, 2, 'a', 0xFE, 0xFF}), 0, 4),
		func(b []byte) string { return string(b) })
}

func checkType[T cmp.Ordered](t *testing.T, gen *rapid.Generator[T]) {
	c, ok := OrderedFor[T]()
	if !ok {
		t.Fatalf("no codec for %v", reflect.TypeFor[T]())
	}
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) { checkAll(t, law[T]{c, gen, cmp.Compare[T]}) })
}

type (
	userID   int64
	userName string
	level    uint8
)

func TestTypesKeepTheirOrder(t *testing.T) {
	checkType(t, rapid.Int())
	checkType(t, rapid.Int8())
	checkType(t, rapid.Int16())
	checkType(t, rapid.Int32())
	checkType(t, rapid.Int64())
	checkType(t, rapid.Uint())
	checkType(t, rapid.Uint8())
	checkType(t, rapid.Uint16())
	checkType(t, rapid.Uint32())
	checkType(t, rapid.Uint64())
	checkType(t, strings012())
	checkType(t, rapid.String())
	checkType(t, rapid.Map(rapid.Int64(), func(v int64) userID { return userID(v) }))
	checkType(t, rapid.Map(rapid.Int64(), func(v int64) time.Duration { return time.Duration(v) }))
	checkType(t, rapid.Map(strings012(), func(v string) userName { return userName(v) }))
	checkType(t, rapid.Map(rapid.Uint8(), func(v uint8) level { return level(v) }))
}

func TestBytesKeepTheirOrder(t *testing.T) {
	gen := rapid.Map(strings012(), func(s string) []byte { return []byte(s) })
	checkAll(t, law[[]byte]{Bytes{}, gen, bytes.Compare})
	checkAll(t, law[string]{StringView{}, strings012(), strings.Compare})
}

func TestBoolsKeepTheirOrder(t *testing.T) {
	checkAll(t, law[bool]{Bool{}, rapid.Bool(), func(a, b bool) int { return cmp.Compare(b2i(a), b2i(b)) }})
}

// compareFloats compares in the documented order: -0 before +0, NaN last.
func compareFloats(a, b float64) int {
	switch {
	case a != a || b != b:
		return cmp.Compare(b2i(a != a), b2i(b != b))
	case a == 0 && b == 0:
		return cmp.Compare(b2i(!math.Signbit(a)), b2i(!math.Signbit(b)))
	}
	return cmp.Compare(a, b)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestFloatsKeepTheirOrder(t *testing.T) {
	special := rapid.SampledFrom([]float64{
		math.NaN(), math.Float64frombits(0xFFF8_0000_0000_0001), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1),
		math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64, 1, -1,
	})
	gen := rapid.OneOf(special, rapid.Float64(), rapid.Map(rapid.Uint64(), math.Float64frombits))
	t.Run("float64", func(t *testing.T) { checkAll(t, law[float64]{Float[float64]{}, gen, compareFloats}) })

	gen32 := rapid.OneOf(rapid.Map(special, func(v float64) float32 { return float32(v) }),
		rapid.Float32(), rapid.Map(rapid.Uint32(), math.Float32frombits))
	compare32 := func(a, b float32) int { return compareFloats(float64(a), float64(b)) }
	t.Run("float32", func(t *testing.T) { checkAll(t, law[float32]{Float[float32]{}, gen32, compare32}) })
}

func TestTimesKeepTheirOrder(t *testing.T) {
	gen := rapid.Custom(func(t *rapid.T) time.Time {
		sec := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64Range(-1<<60, 1<<60)).Draw(t, "seconds")
		return time.Unix(sec, rapid.Int64Range(0, 999_999_999).Draw(t, "nanos"))
	})
	checkAll(t, law[time.Time]{Time{}, gen, time.Time.Compare})
}

func TestGroupLenIsTheFirstComponent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, second := strings012().Draw(t, "first"), rapid.Int().Draw(t, "second")
		c := PairOf[string, int](String{}, Signed[int]{})
		want := len(String{}.AppendPart(nil, first))

		key := c.Append(nil, Pair[string, int]{first, second})
		if n, err := c.(Grouper).GroupLen(key); err != nil || n != want {
			t.Fatalf("GroupLen % x = %d, %v; want %d", key, n, err, want)
		}
		d := Descending(c)
		key = d.Append(nil, Desc[Pair[string, int]]{Pair[string, int]{first, second}})
		if n, err := d.(Grouper).GroupLen(key); err != nil || n != want {
			t.Fatalf("descending GroupLen % x = %d, %v; want %d", key, n, err, want)
		}
		tr := TripleOf[string, int, int](String{}, Signed[int]{}, Signed[int]{})
		key = tr.Append(nil, Triple[string, int, int]{first, second, second})
		if n, err := tr.(Grouper).GroupLen(key); err != nil || n != want {
			t.Fatalf("triple GroupLen % x = %d, %v; want %d", key, n, err, want)
		}
	})
}
