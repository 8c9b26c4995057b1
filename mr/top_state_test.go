package mr

import (
	"cmp"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestFirstOfAgainstASort compares firstOf with a stable sort of all values, of which the
// distinct ones remain if it asks for them.
func TestFirstOfAgainstASort(t *testing.T) {
	byTens := func(a, b int) int { return cmp.Compare(a/10, b/10) }
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.IntRange(0, 99)).Draw(t, "values")
		f := firstOf[int]{n: rapid.IntRange(1, 12).Draw(t, "n"), order: byTens, distinct: rapid.Bool().Draw(t, "distinct"), own: copyFuncOf[int](nil)}
		for range 2 { // a second use after a reset
			f.reset()
			for _, v := range values {
				f.add(v)
			}
			want := slices.Clone(values)
			slices.SortStableFunc(want, byTens)
			if f.distinct {
				want = slices.CompactFunc(want, func(a, b int) bool { return byTens(a, b) == 0 })
			}
			if got := f.take(); !slices.Equal(got, want[:min(f.n, len(want))]) {
				t.Fatalf("first %d of %v: %v", f.n, values, got)
			}
		}
	})
}

// TestTopStateIsKept interrupts a reducer by Save and Load between any two keys.
func TestTopStateIsKept(t *testing.T) {
	keyOf, _ := keyCodec[string]()
	ranking := &topOrder[string, int64]{n: 3, order: ByValue[string, int64], keys: keyOf, values: valueCodec[int64]()}
	rapid.Check(t, func(t *rapid.T) {
		records := rapid.SliceOf(rapid.StringN(0, 3, -1)).Draw(t, "keys")
		cut := rapid.IntRange(0, len(records)).Draw(t, "cut")
		whole, before, after := &topReducer[string, int64]{ranking: ranking}, &topReducer[string, int64]{ranking: ranking}, &topReducer[string, int64]{ranking: ranking}
		for _, r := range []*topReducer[string, int64]{whole, before, after} {
			_ = r.Setup(nil)
		}
		for i, key := range records {
			record := Pair[string, int64]{First: key, Second: int64(len(key))}
			whole.first.add(record)
			if i < cut {
				before.first.add(record)
			}
		}
		state, err := before.Save()
		must.Do(t, err)
		must.Do(t, after.Load(state))
		for _, key := range records[cut:] {
			after.first.add(Pair[string, int64]{First: key, Second: int64(len(key))})
		}
		if got, want := after.first.take(), whole.first.take(); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for n := range state {
			_ = after.Load(state[:n]) // must not panic
		}
	})
}
