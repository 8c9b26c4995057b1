package mr

import "iter"

// Emitter takes what a map or reduce function produces. Emit copies the bytes
// of its arguments before it returns. What goes wrong behind it (a full disk,
// say) ends the task; the caller need not care.
type Emitter[K, V any] interface {
	Emit(key K, value V)
}

// Mapper turns one record of the input into any number of records. It may
// also implement Setup, Closer, and Stateful or NotResumable.
type Mapper[KI, VI, KO, VO any] interface {
	Map(t *Task, key KI, value VI, out Emitter[KO, VO]) error
}

// Reducer gets each key once with all its values, in order, and produces any
// number of records. values may be ranged over once; what is not ranged over
// is passed by. It may also implement Setup, Closer, and
// Stateful or NotResumable.
type Reducer[KI, VI, KO, VO any] interface {
	Reduce(t *Task, key KI, values iter.Seq[VI], out Emitter[KO, VO]) error
}

// Setup is called once before the first record of an attempt.
type Setup interface {
	Setup(t *Task) error
}

// Closer is called once after the last record of an attempt; it may still
// emit. One that is not Stateful is not paused, since what it has to say at the end
// would be lost: a mapper ends early instead, or stands still as a reducer does.
type Closer[KO, VO any] interface {
	Close(t *Task, out Emitter[KO, VO]) error
}

// Stateful is for mappers and reducers that carry something from one record or
// key to the next. When an attempt is paused its state is saved; Load is
// called after Setup in the attempt that goes on. Without it such code, unless it is a
// Closer, gives other results after a pause, and a mapper also when its input is split while it
// runs: that of a Stateful mapper never is.
type Stateful interface {
	Save() ([]byte, error)
	Load(state []byte) error
}

// NotResumable is for mappers and reducers that cannot go on where another attempt
// has ended: they carry something along that cannot be saved, such as a connection
// or another program's process. When others need the slot of such a task, it stands
// still where it can, is killed and begins anew, or keeps its slot.
type NotResumable interface {
	// NotResumable is never called: to have it is to say so.
	NotResumable()
}

// MapFunc makes a Mapper of a function.
func MapFunc[KI, VI, KO, VO any](f func(t *Task, key KI, value VI, out Emitter[KO, VO]) error) Mapper[KI, VI, KO, VO] {
	return mapFunc[KI, VI, KO, VO](f)
}

type mapFunc[KI, VI, KO, VO any] func(*Task, KI, VI, Emitter[KO, VO]) error

func (f mapFunc[KI, VI, KO, VO]) Map(t *Task, key KI, value VI, out Emitter[KO, VO]) error {
	return f(t, key, value, out)
}

// ReduceFunc makes a Reducer of a function.
func ReduceFunc[KI, VI, KO, VO any](f func(t *Task, key KI, values iter.Seq[VI], out Emitter[KO, VO]) error) Reducer[KI, VI, KO, VO] {
	return reduceFunc[KI, VI, KO, VO](f)
}

type reduceFunc[KI, VI, KO, VO any] func(*Task, KI, iter.Seq[VI], Emitter[KO, VO]) error

func (f reduceFunc[KI, VI, KO, VO]) Reduce(t *Task, key KI, values iter.Seq[VI], out Emitter[KO, VO]) error {
	return f(t, key, values, out)
}
