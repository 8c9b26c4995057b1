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
func IdentityReducer[K, V any]() Reducer[K, V, K, V] { return &identity[K, V]{} }

// identity ranges over all groups with one and the same function: a loop's
// body, made anew for each key, would be two allocations for each key.
type identity[K, V any] struct {
	key  K
	out  Emitter[K, V]
	emit func(V) bool
}

// Setup implements Setup.
func (r *identity[K, V]) Setup(*Task) error {
	r.emit = func(v V) bool {
		r.out.Emit(r.key, v)
		return true
	}
	return nil
}

// Reduce implements Reducer.
func (r *identity[K, V]) Reduce(_ *Task, key K, values iter.Seq[V], out Emitter[K, V]) error {
	r.key, r.out = key, out
	values(r.emit)
	return nil
}
