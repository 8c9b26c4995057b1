package mr

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hammr/hammr/internal/data/keys"
	"github.com/hammr/hammr/internal/testing/must"
	"pgregory.net/rapid"
)

// checkKept compares the copy function of a type with its dumb twin, which encodes and
// decodes the value. After each copy, scribble overwrites the memory of the original.
func checkKept[T any](t *testing.T, codec keys.Codec[T], gen *rapid.Generator[T], scribble func(T)) {
	t.Helper()
	t.Run(reflect.TypeFor[T]().String(), func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			values := rapid.SliceOf(gen).Draw(t, "values")
			keep, a := copyFuncOf(codec), new(arena)
			var got, want []T
			for _, v := range values {
				decoded, err := codec.Decode(codec.Append(nil, v))
				must.Do(t, err)
				got, want = append(got, keep.of(a, v)), append(want, decoded)
				scribble(v)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Fatalf("what was kept is not what was encoded and decoded:\n%s", diff)
			}
		})
	})
}

func fill(b []byte) {
	for i := range b {
		b[i] = '?'
	}
}

func TestKeptValuesAreWhatTheirEncodingsAre(t *testing.T) {
	bytes := rapid.SliceOf(rapid.Byte())
	checkKept(t, keys.Codec[int64](keys.Signed[int64]{}), rapid.Int64(), func(int64) {})
	checkKept(t, keys.Codec[string](keys.String{}), rapid.String(), func(string) {})
	checkKept(t, keys.Codec[[]byte](keys.Bytes{}), bytes, fill)
	type pair = Pair[string, []byte]
	checkKept(t, valueCodec[pair](), rapid.Custom(func(t *rapid.T) pair {
		return pair{First: rapid.String().Draw(t, "first"), Second: bytes.Draw(t, "second")}
	}), func(p pair) { fill(p.Second) })
	type deep = Triple[[]byte, Pair[int32, []byte], Desc[string]]
	checkKept(t, valueCodec[deep](), rapid.Custom(func(t *rapid.T) deep {
		return deep{
			First:  bytes.Draw(t, "a"),
			Second: Pair[int32, []byte]{First: rapid.Int32().Draw(t, "b"), Second: bytes.Draw(t, "c")},
			Third:  Desc[string]{Value: rapid.String().Draw(t, "d")},
		}
	}), func(d deep) { fill(d.First); fill(d.Second.Second) })
	type record struct {
		Names  []string
		Counts map[string]int
		Next   *int
	}
	checkKept(t, JSON[record](), rapid.Custom(func(t *rapid.T) record {
		n := rapid.Int().Draw(t, "next")
		return record{rapid.SliceOf(rapid.String()).Draw(t, "names"), rapid.MapOf(rapid.String(), rapid.Int()).Draw(t, "counts"), &n}
	}), func(r record) {
		clear(r.Names)
		clear(r.Counts)
		*r.Next = math.MinInt
	})
}

// TestKeptTimes checks that a copied time loses its location, as an encoded time does.
func TestKeptTimes(t *testing.T) {
	there := time.Date(2026, 5, 1, 12, 0, 0, 0, time.FixedZone("there", 3600))
	got := copyFuncOf(valueCodec[time.Time]()).of(new(arena), there)
	if !got.Equal(there) || got.Location() != time.UTC {
		t.Errorf("kept %v of %v", got, there)
	}
}

// TestKeysWithoutACodecAreKept copies a key type that has no codec and thus no order.
func TestKeysWithoutACodecAreKept(t *testing.T) {
	key := []int{1, 2}
	kept := copyFuncOf[[]int](nil)(new(arena), key)
	key[0] = 9
	if !reflect.DeepEqual(kept, []int{1, 2}) {
		t.Errorf("kept %v", kept)
	}
}

func TestPointerFreeRecordsAreCopiedWithoutGarbage(t *testing.T) {
	type record struct {
		Name  string
		Count [2]int64
	}
	keep, a := copyFuncOf[record](nil), new(arena)
	if n := testing.AllocsPerRun(100, func() { keep.of(a, record{Name: "n"}) }); n != 0 || len(a.bytes) != 0 {
		t.Errorf("%v allocations, %d bytes", n, len(a.bytes))
	}
	bytes, buffer := copyFuncOf[[]byte](nil), arena{bytes: make([]byte, 0, 1<<20)}
	some := []byte("some bytes")
	if n := testing.AllocsPerRun(100, func() { bytes(&buffer, some) }); n != 0 {
		t.Errorf("%v allocations a record of bytes", n)
	}
}
