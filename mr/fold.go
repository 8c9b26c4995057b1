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
}

// Fold makes a FoldReducer of an associative function. acc is what the values
// before v have come to.
func Fold[K, V any](f func(acc, v V) V) FoldReducer[K, V] {
	return FoldReducer[K, V]{f}
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
func (r FoldReducer[K, V]) Reduce(t *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	return r.forAttempt().Reduce(t, key, values, out)
}

func (r FoldReducer[K, V]) folder() func(acc, v V) V { return r.fold }

func (r FoldReducer[K, V]) forAttempt() Reducer[K, V, K, V] {
	l := &foldLoop[K, V]{fold: r.fold, bytes: isBytes[V]()}
	l.step = l.add
	return l
}

// foldLoop is a FoldReducer at work. It ranges over all groups with one and the
// same function, and keeps values that are bytes in one and the same buffer.
type foldLoop[K, V any] struct {
	fold  func(acc, v V) V
	bytes bool // V is bytes, which hold only until the next value
	step  func(V) bool
	some  bool // acc is that of a value of this group
	acc   V
}

// Reduce implements Reducer.
func (l *foldLoop[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	l.some = false
	if values(l.step); l.some {
		out.Emit(key, l.acc)
	}
	return nil
}

func (l *foldLoop[K, V]) add(v V) bool {
	if l.some {
		v = l.fold(l.acc, v)
	}
	l.some = true
	if !l.bytes {
		l.acc = v
		return true
	}
	acc := bytesOf(&l.acc)
	*acc = append((*acc)[:0], *bytesOf(&v)...) // v may lie in acc
	return true
}

// folding is what the engine looks for in a combiner.
type folding[V any] interface {
	folder() func(acc, v V) V
}
