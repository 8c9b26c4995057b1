package mr

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hammr/hammr/internal/data/hashtable"
	"github.com/hammr/hammr/internal/testing/must"
	"pgregory.net/rapid"
)

// lookupOf returns a Lookup in records that were grouped by key, and its dumb twin, a Go map.
func lookupOf[K comparable, V any](t must.T, records []Pair[K, V]) (*Lookup[K, V], map[K][]V) {
	r := newRoute[K, V]()
	want := make(map[K][]V)
	var order []K
	for _, p := range records {
		if _, known := want[p.First]; !known {
			order = append(order, p.First)
		}
		want[p.First] = append(want[p.First], p.Second)
	}
	b := hashtable.NewBuilder(0)
	for _, key := range order {
		b.AddKey(r.keys.Append(nil, key))
		for _, v := range want[key] {
			b.AddValue(r.values.Append(nil, v))
		}
	}
	table, err := b.Table()
	must.Do(t, err)
	return newLookup(&Side[K, V]{route: &r}, table), want
}

// checkLookup compares a Lookup with a Go map, for keys that it has and for others.
func checkLookup[K comparable, V any](t *testing.T, name string, keys *rapid.Generator[K], values *rapid.Generator[V]) {
	t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
		records := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Pair[K, V] {
			return Pair[K, V]{First: keys.Draw(t, "key"), Second: values.Draw(t, "value")}
		})).Draw(t, "records")
		l, want := lookupOf(t, records)
		if l.Len() != len(want) {
			t.Fatalf("%d keys, want %d", l.Len(), len(want))
		}
		asked := rapid.SliceOf(keys).Draw(t, "asked")
		for key := range want {
			asked = append(asked, key)
		}
		for _, key := range asked {
			l.Ahead(key)
		}
		for _, key := range asked {
			got := slices.Collect(l.All(key))
			first, found := l.Get(key)
			if diff := cmp.Diff(want[key], got); diff != "" || found != (len(got) > 0) {
				t.Fatalf("%v is found: %v; its values:\n%s", key, found, diff)
			}
			if diff := cmp.Diff(append(want[key], *new(V))[0], first); diff != "" {
				t.Fatalf("first value of %v:\n%s", key, diff)
			}
		}
	}))
}

func TestLookupIsAMap(t *testing.T) {
	type name string
	checkLookup(t, "string", rapid.OneOf(rapid.StringN(0, 2, 4), rapid.String()), rapid.String())
	checkLookup(t, "int64", rapid.Int64Range(-9, 9), rapid.SliceOfN(rapid.Byte(), 1, 200))
	checkLookup(t, "defined", rapid.Map(rapid.StringN(0, 2, 4), func(s string) name { return name(s) }), rapid.Float64())
	checkLookup(t, "pair", rapid.Custom(func(t *rapid.T) Pair[string, int32] {
		return Pair[string, int32]{First: rapid.StringN(0, 1, 4).Draw(t, "first"), Second: rapid.Int32Range(0, 3).Draw(t, "second")}
	}), rapid.Custom(func(t *rapid.T) Pair[string, bool] {
		return Pair[string, bool]{First: rapid.String().Draw(t, "first"), Second: rapid.Bool().Draw(t, "second")}
	}))
}

// TestLookupAllocatesNothing covers the types for which Lookup promises that.
func TestLookupAllocatesNothing(t *testing.T) {
	texts, _ := lookupOf(t, []Pair[string, string]{{First: "a", Second: "1"}, {First: "a", Second: "2"}, {First: "b", Second: "3"}})
	numbers, _ := lookupOf(t, []Pair[int64, float64]{{First: 1, Second: 2}, {First: 1, Second: 3}})
	r := newRoute[[]byte, []byte]()
	bytes := newLookup(&Side[[]byte, []byte]{route: &r}, texts.table)
	key, total := []byte("a"), 0
	for name, look := range map[string]func(){
		"string": func() {
			texts.Ahead("a")
			v, _ := texts.Get("a")
			for other := range texts.All("a") {
				total += len(v) + len(other)
			}
		},
		"[]byte": func() {
			bytes.Ahead(key)
			v, _ := bytes.Get(key)
			for other := range bytes.All(key) {
				total += len(v) + len(other)
			}
		},
		"int64": func() {
			numbers.Ahead(1)
			v, _ := numbers.Get(1)
			for other := range numbers.All(1) {
				total += int(v + other)
			}
		},
	} {
		look() // makes the scratch for keys
		if n := testing.AllocsPerRun(100, look); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}
