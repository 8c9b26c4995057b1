package mr

import (
	"errors"

	"github.com/hammr/hammr/internal/task"
)

// setUp prepares a mapper or reducer for its first record: fresh, or with the
// state that it had at a pause.
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
		return s.Load(state)
	}
	return nil
}

// closesUnsaved reports whether a mapper or reducer has something to say at its end that
// it could not say in the attempt after a pause.
func closesUnsaved[KO, VO any](user any) bool {
	_, closes := user.(Closer[KO, VO])
	_, saves := user.(Stateful)
	return closes && !saves
}

func callSetup(t *Task, user any) error {
	if s, ok := user.(Setup); ok {
		return s.Setup(t)
	}
	return nil
}

// closeUser tells a mapper or reducer that its records are over.
func closeUser[KO, VO any](t *Task, user any, out Emitter[KO, VO]) error {
	if c, ok := user.(Closer[KO, VO]); ok {
		return c.Close(t, out)
	}
	return nil
}

// thrown is an error that has to pass through code which cannot return it: that
// of a record whose bytes are not what they are to be read as, or of a side that
// cannot be read.
type thrown struct{ err error }

// recovered is the error of a panic; the stack goes with it where it tells
// something.
func recovered(value any) error {
	if t, ok := value.(thrown); ok {
		return t.err
	}
	return task.Recovered(value)
}

// blame says which record of the input err came up at; skipping that record
// would avoid it.
func (t *Task) blame(err error, at Position) error {
	var record *task.RecordError
	if !errors.As(err, &record) {
		record = &task.RecordError{Err: err}
	}
	record.Input, record.Offset = t.Input()
	record.Record = &at
	return record
}
