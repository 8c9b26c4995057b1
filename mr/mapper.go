package mr

import "iter"

// Emitter takes the records that a map or reduce function produces. Emit copies the bytes of
// its arguments before it returns, so the caller may reuse its buffers.
//
// Emit returns no error. If a record cannot be stored, for example because the disk is full,
// the attempt ends after the current call of the user's function. The caller need not check. An
// Emitter is for the goroutine that got it.
type Emitter[K, V any] interface {
	Emit(key K, value V)
}

// Mapper turns one record of the input into any number of records. It may also implement Setup,
// Closer, and either Stateful or NotResumable.
//
// Each attempt has a Mapper of its own, and calls it from one goroutine. The bytes of key and
// value are valid until Map returns, so a Mapper that keeps them copies them; strings and
// numbers may be kept. An error ends the attempt. It names the record, which
// mapreduce.map.skip.maxrecords lets later attempts skip.
type Mapper[KI, VI, KO, VO any] interface {
	Map(t *Task, key KI, value VI, out Emitter[KO, VO]) error
}

// Reducer gets each key once with all its values, in order, and produces any number of
// records. values may be ranged over once. A range that was left early is continued by the next
// one, and values that are left at the end are skipped. A range after one that reached the end,
// or after Reduce has returned, fails the job. It may also
// implement Setup, Closer, and either Stateful or NotResumable.
//
// The bytes of the key are valid until Reduce returns. The bytes of a value are valid until
// the next value. Hadoop reuses its objects in the same way.
type Reducer[KI, VI, KO, VO any] interface {
	Reduce(t *Task, key KI, values iter.Seq[VI], out Emitter[KO, VO]) error
}

// Setup is called once before the first record of an attempt, as setup of Hadoop's Mapper
// is. An attempt that resumes from a checkpoint also calls Setup, before Load.
type Setup interface {
	Setup(t *Task) error
}

// Closer is called once after the last record of an attempt, and may still emit. A type that
// is a Closer and not Stateful is never checkpointed, because the records that Close emits
// would be lost. Such a mapper is split instead, and such a reducer is suspended.
type Closer[KO, VO any] interface {
	Close(t *Task, out Emitter[KO, VO]) error
}

// Stateful is for mappers and reducers that carry state from one record or key to the next.
// Save is called when an attempt is checkpointed. Load is called, after Setup, in the
// attempt that resumes; the bytes of state are valid until it returns. Code that has state must be Stateful or a Closer, or its results
// change after a checkpoint. The input of a Stateful mapper is never split while it runs.
type Stateful interface {
	Save() ([]byte, error)
	Load(state []byte) error
}

// NotResumable is for mappers and reducers whose state cannot be saved, such as a connection
// or the process of another program. Their tasks are never checkpointed or split. If the
// slot of such a task is needed, the task is suspended, or killed and started over, or keeps
// its slot.
type NotResumable interface {
	// NotResumable is never called. Its presence is the declaration.
	NotResumable()
}

// MapFunc makes a Mapper of a function.
func MapFunc[KI, VI, KO, VO any](f func(t *Task, key KI, value VI, out Emitter[KO, VO]) error) Mapper[KI, VI, KO, VO] {
	return mapFunc[KI, VI, KO, VO](f)
}

// mapFunc is a Mapper without Setup, Closer or state.
type mapFunc[KI, VI, KO, VO any] func(*Task, KI, VI, Emitter[KO, VO]) error

func (f mapFunc[KI, VI, KO, VO]) Map(t *Task, key KI, value VI, out Emitter[KO, VO]) error {
	return f(t, key, value, out)
}

// ReduceFunc makes a Reducer of a function.
func ReduceFunc[KI, VI, KO, VO any](f func(t *Task, key KI, values iter.Seq[VI], out Emitter[KO, VO]) error) Reducer[KI, VI, KO, VO] {
	return reduceFunc[KI, VI, KO, VO](f)
}

// reduceFunc is a Reducer without Setup, Closer or state.
type reduceFunc[KI, VI, KO, VO any] func(*Task, KI, iter.Seq[VI], Emitter[KO, VO]) error

func (f reduceFunc[KI, VI, KO, VO]) Reduce(t *Task, key KI, values iter.Seq[VI], out Emitter[KO, VO]) error {
	return f(t, key, values, out)
}
