package mr

import (
	"cmp"
	"iter"

	"github.com/hammr/hammr/shuffle"
)

// IdentityMapper emits each record as it is.
func IdentityMapper[K, V any]() Mapper[K, V, K, V] {
	return MapFunc(func(_ *Task, key K, value V, out Emitter[K, V]) error {
		out.Emit(key, value)
		return nil
	})
}

// IdentityReducer emits each value with its key.
func IdentityReducer[K, V any]() Reducer[K, V, K, V] { return identity[K, V]{} }

// identity is the reducer that attempts share. Each attempt uses its own identityLoop.
type identity[K, V any] struct{}

// Reduce implements Reducer.
func (r identity[K, V]) Reduce(t *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	return r.forAttempt().Reduce(t, key, values, out)
}

// forAttempt returns the reducer of one attempt. instance calls it.
func (identity[K, V]) forAttempt() Reducer[K, V, K, V] {
	l := &identityLoop[K, V]{}
	l.step = l.emit
	return l
}

// identityLoop passes the same function to each group's iterator. A loop body created for
// each key would cost two allocations per key.
type identityLoop[K, V any] struct {
	key  K
	out  Emitter[K, V]
	step func(V) bool // method value of emit, made once
}

// Reduce implements Reducer.
func (l *identityLoop[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	l.key, l.out = key, out
	values(l.step)
	return nil
}

func (l *identityLoop[K, V]) emit(v V) bool {
	l.out.Emit(l.key, v)
	return true
}

// Number is any type that can be added.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 |
		~float32 | ~float64
}

// FoldReducer joins the values of a key two at a time. It serves as a reducer and as a
// combiner. As a combiner it folds each record into a hash table as it is emitted, which is
// the fastest way to combine.
// It needs no order: records of a key are folded as they come, so it keeps one value for each
// key.
type FoldReducer[K, V any] struct {
	fold func(acc, v V) V

	// Of a Sum of integers, else nil:
	partial func(acc, v V) (V, bool) // false if the sum does not fit V
	total   func() total[V]
}

// Fold makes a FoldReducer of an associative function. acc is the result for the values
// before v.
func Fold[K, V any](f func(acc, v V) V) FoldReducer[K, V] {
	return FoldReducer[K, V]{fold: f}
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

// forAttempt returns the reducer of one attempt for values of the default codec.
func (r FoldReducer[K, V]) forAttempt() Reducer[K, V, K, V] { return r.forValues(valueCodec[V]()) }

// forValues implements keeper. It binds the method add once, so that a group allocates nothing.
func (r FoldReducer[K, V]) forValues(codec Codec[V]) Reducer[K, V, K, V] {
	if r.partial != nil {
		return newSumLoop(r)
	}
	l := &foldLoop[K, V]{fold: r.fold, own: ownDecoded(codec)}
	l.step = l.add
	return l
}

// foldLoop runs a FoldReducer in one attempt. It passes the same function to each group's
// iterator and reuses the memory of values that it keeps, so that a group costs no allocation.
// The memory of acc is reused for the next group, but not its value: Reduce starts each group
// without a value.
type foldLoop[K, V any] struct {
	fold        func(acc, v V) V
	own         copyFunc[V] // copies a value, which is valid only until the next one; nil if it needs no copy
	step        func(V) bool
	some        bool // acc holds a value of the current group
	acc         V
	kept, spare arena // memory of acc, and of the next acc
}

// Reduce implements Reducer.
func (l *foldLoop[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	l.some = false
	if values(l.step); l.some {
		out.Emit(key, l.acc)
	}
	return nil
}

// add folds one value into acc. The result may share memory with v, and with any part of acc, so
// it is copied to other memory than that of acc.
func (l *foldLoop[K, V]) add(v V) bool {
	if l.some {
		v = l.fold(l.acc, v)
	}
	l.some = true
	if l.own != nil {
		l.spare.bytes = l.spare.bytes[:0]
		v = l.own(&l.spare, v)
		l.kept, l.spare = l.spare, l.kept
	}
	l.acc = v
	return true
}

// folding is implemented by combiners that fold. They collect in a hash table instead of a sort
// buffer. As a method of theirs, it is compiled only for types that a program folds.
type folding[K, V any] interface {
	collectFolded(t *Task, r *route[K, V], opts shuffle.Options) (Emitter[K, V], shuffle.Collector, error)
}

// collectFolded implements folding.
func (r FoldReducer[K, V]) collectFolded(t *Task, to *route[K, V], opts shuffle.Options) (Emitter[K, V], shuffle.Collector, error) {
	table, err := shuffle.NewFoldTable(t.Context(), opts, shuffle.Fold[V]{
		Fold: r.folder(), Append: to.values.Append, Decode: to.values.Decode,
	})
	if err != nil {
		return nil, nil, err
	}
	return foldEmitter(to.keys, table), table, nil
}
