package mr

import (
	"cmp"
	"iter"
)

// Number is what can be added.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64
}

// FoldReducer joins the values of a key two at a time. It serves as reducer
// and as combiner; as a combiner it works on each record as it is emitted, in
// a hash table, which is the fastest way there is to combine.
type FoldReducer[K, V any] struct {
	fold func(acc, v V) V
	keep func(v V) V // copies a value that holds only until the next one
}

// Fold makes a FoldReducer of an associative function. acc is what the values
// before v have come to.
func Fold[K, V any](f func(acc, v V) V) FoldReducer[K, V] {
	r := FoldReducer[K, V]{fold: f, keep: func(v V) V { return v }}
	if isBytes[V]() {
		r.keep = cloneBytes[V]
	}
	return r
}

// Sum adds the values of each key.
func Sum[K any, V Number]() FoldReducer[K, V] {
	return Fold[K](func(acc, v V) V { return acc + v })
}

// Min keeps the least value of each key.
func Min[K any, V cmp.Ordered]() FoldReducer[K, V] {
	return Fold[K](func(acc, v V) V { return min(acc, v) })
}

// Max keeps the greatest value of each key.
func Max[K any, V cmp.Ordered]() FoldReducer[K, V] {
	return Fold[K](func(acc, v V) V { return max(acc, v) })
}

// First keeps the first value of each key.
func First[K, V any]() FoldReducer[K, V] {
	return Fold[K](func(acc, _ V) V { return acc })
}

// Reduce implements Reducer.
func (r FoldReducer[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	var acc V
	first := true
	for v := range values {
		if first {
			acc, first = r.keep(v), false
		} else {
			acc = r.keep(r.fold(acc, v))
		}
	}
	if !first {
		out.Emit(key, acc)
	}
	return nil
}

func (r FoldReducer[K, V]) folder() func(acc, v V) V { return r.fold }

// folding is what the engine looks for in a combiner.
type folding[V any] interface {
	folder() func(acc, v V) V
}
