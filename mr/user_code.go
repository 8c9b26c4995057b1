package mr

import (
	"errors"
	"reflect"

	"github.com/hammr/hammr/internal/task"
	"github.com/hammr/hammr/preempt"
)

// setUp prepares a mapper or reducer for its first record. In an attempt that resumes, it loads
// the state of the checkpoint. It also declares to the Node which checkpoints the code allows:
// with its state, without state, or none.
func setUp[KO, VO any](t *Task, user any) error {
	if err := callSetup(t, user); err != nil {
		return err
	}
	if _, ok := user.(NotResumable); ok {
		t.node.NotResumable()
		return nil
	}
	if closesUnsaved[KO, VO](user) {
		t.node.NotCheckpointable()
	}
	s, ok := user.(Stateful)
	if !ok {
		return nil
	}
	t.node.OnCheckpoint(s.Save)
	if state := t.node.UserState(); state != nil {
		lent := t.lender()
		defer lent.End()
		return s.Load(lent.Lend(state))
	}
	return nil
}

// closesUnsaved reports whether a mapper or reducer would lose something in a checkpoint:
// its Close emits, and its state cannot be saved.
func closesUnsaved[KO, VO any](user any) bool {
	_, closes := user.(Closer[KO, VO])
	_, saves := user.(Stateful)
	return closes && !saves
}

// callSetup calls Setup of a mapper or reducer, if it has one.
func callSetup(t *Task, user any) error {
	if s, ok := user.(Setup); ok {
		return s.Setup(t)
	}
	return nil
}

// closeUser calls Close of a mapper or reducer, if it has one.
func closeUser[KO, VO any](t *Task, user any, out Emitter[KO, VO]) error {
	if c, ok := user.(Closer[KO, VO]); ok {
		return c.Close(t, out)
	}
	return nil
}

// thrown is a panic value for an error in code that cannot return it: a record that cannot
// be decoded, or a side that cannot be read.
//
// Any other panic is a mistake in the user's code, whose stack is shown.
type thrown struct{ err error }

// recovered returns the error of a panic, with the stack unless the error was thrown.
func recovered(value any) error {
	if t, ok := value.(thrown); ok {
		return t.err
	}
	return task.Recovered(value)
}

// blame adds to err the record of the input at which it occurred, so that the record can be
// skipped.
func (t *Task) blame(err error, at Position) error {
	var record *task.RecordError
	if !errors.As(err, &record) {
		record = &task.RecordError{Err: err}
	}
	record.Input, record.Offset = t.Input()
	record.Record = &at
	return record
}

// instance returns the copy of v that one attempt uses: the result of forAttempt if v has
// that method, else a copy of the struct that v points to, else v itself. The attempts of
// one process run at the same time, and must not share the fields of a mapper.
func instance[T any](v T) T {
	if m, ok := any(v).(interface{ forAttempt() T }); ok {
		return m.forAttempt()
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Pointer || r.IsNil() || r.Elem().Kind() != reflect.Struct {
		return v
	}
	c := reflect.New(r.Elem().Type())
	c.Elem().Set(r.Elem())
	return c.Interface().(T)
}

// keeper is a reducer that keeps values of a group beyond the next value. It copies them
// according to their codec.
type keeper[K, V, KO, VO any] interface {
	forValues(codec Codec[V]) Reducer[K, V, KO, VO]
}

// reducerInstance is instance for a reducer whose values are decoded by a codec.
func reducerInstance[K, V, KO, VO any](r Reducer[K, V, KO, VO], values Codec[V]) Reducer[K, V, KO, VO] {
	if k, ok := any(r).(keeper[K, V, KO, VO]); ok {
		return k.forValues(values)
	}
	return instance(r)
}

// disallowedModes returns the preemption modes that a mapper or reducer does not support:
//
//	NotResumable              split, checkpoint
//	Stateful                  split
//	Closer and not Stateful   checkpoint
func disallowedModes[KO, VO any](user any) preempt.ModeSet {
	if _, ok := user.(NotResumable); ok {
		return preempt.SetOf(preempt.Split, preempt.Checkpoint)
	}
	if _, ok := user.(Stateful); ok {
		return preempt.SetOf(preempt.Split)
	}
	if closesUnsaved[KO, VO](user) {
		return preempt.SetOf(preempt.Checkpoint)
	}
	return 0
}
