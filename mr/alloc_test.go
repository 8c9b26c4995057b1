package mr

import (
	"fmt"
	"iter"
	"testing"
)

// discard is an Emitter that only counts records.
type discard[K, V any] struct{ n int }

func (d *discard[K, V]) Emit(K, V) { d.n++ }

// groupOf returns an iterator over v, n times. Callers create it once, as the group loop
// does.
func groupOf[V any](n int, v V) iter.Seq[V] {
	return func(yield func(V) bool) {
		for range n {
			if !yield(v) {
				return
			}
		}
	}
}

// reducersWithoutGarbage returns the bundled reducers. Each function reduces one group.
func reducersWithoutGarbage() map[string]func() {
	return map[string]func(){
		"identity":   groupCall(IdentityReducer[string, int64](), "k", 1),
		"sum":        groupCall[string, int64](Sum[string, int64](), "k", 1),
		"sum bytes":  groupCall[[]byte, int64](Sum[[]byte, int64](), []byte("k"), 1),
		"max":        groupCall[string, string](Max[string, string](), "k", "v"),
		"first":      groupCall[int64, float64](First[int64, float64](), 1, 2),
		"own fold":   groupCall[string, int64](Fold[string](func(a, b int64) int64 { return a ^ b }), "k", 1),
		"fold bytes": groupCall[string, []byte](First[string, []byte](), "k", []byte("value")),
	}
}

// groupCall sets up an attempt's instance of a reducer. The returned function reduces one
// group of ten values.
func groupCall[K, V any](r Reducer[K, V, K, V], key K, value V) func() {
	r = instance(r)
	if err := callSetup(nil, r); err != nil {
		panic(err)
	}
	var out discard[K, V]
	values := groupOf(10, value)
	return func() {
		if err := r.Reduce(nil, key, values, &out); err != nil || out.n == 0 {
			panic(fmt.Sprint("reduce: ", err, out.n))
		}
	}
}

func TestReducersMakeNoGarbage(t *testing.T) {
	for name, reduce := range reducersWithoutGarbage() {
		if n := testing.AllocsPerRun(100, reduce); n != 0 {
			t.Errorf("%s: %v allocations a group", name, n)
		}
	}
}
