package mr

import "iter"

// IdentityMapper emits each record as it is.
func IdentityMapper[K, V any]() Mapper[K, V, K, V] {
	return MapFunc(func(_ *Task, key K, value V, out Emitter[K, V]) error {
		out.Emit(key, value)
		return nil
	})
}

// IdentityReducer emits each value with its key.
func IdentityReducer[K, V any]() Reducer[K, V, K, V] { return identity[K, V]{} }

type identity[K, V any] struct{}

// Reduce implements Reducer.
func (r identity[K, V]) Reduce(t *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	return r.forAttempt().Reduce(t, key, values, out)
}

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
	step func(V) bool // the method emit, bound once
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
