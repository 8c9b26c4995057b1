package task

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// failureOf turns the error of an attempt into the message that the user sees. The kinds of
// errors that it finds in the chain become flags. By them the master decides whether the
// task is tried again, and what else has to run again.
func (a *Attempt) failureOf(err error) *taskproc.Failure {
	f := &taskproc.Failure{Cause: err.Error() + a.remedy(err), Offset: -1, Log: a.log.String()}
	if record, ok := errors.AsType[*RecordError](err); ok {
		f.Stack, f.Input, f.Offset = record.Stack, record.Input, record.Offset
		if record.Record != nil {
			f.Record = taskproc.FromPosition(*record.Record)
		}
	}
	if combiner, ok := errors.AsType[*shuffle.PanicError](err); ok {
		f.Stack = panicStack(string(combiner.Stack))
	}
	f.BadCheckpoint = errors.As(err, new(*unusableCheckpointError))
	f.Fatal = errors.As(err, new(*FatalError))
	f.StorageDown = storage.Unavailable(err)
	f.BadCheckpoint = f.BadCheckpoint && !f.StorageDown // it may be readable after the outage
	if lost, ok := errors.AsType[*LostOutputError](err); ok {
		f.LostMapAttempt, f.LostMapUnreached = lost.Attempt, transfer.IsUnreached(lost.Err)
	}
	for _, text := range []*string{&f.Cause, &f.Stack, &f.Input, &f.Log} {
		*text = valid(*text)
	}
	return f
}

// valid replaces invalid UTF-8, which messages cannot carry, in a text that may quote
// anything.
func valid(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// remedy says what the user can do about an error, as the end of a sentence; "" if unknown.
func (a *Attempt) remedy(err error) string {
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, syscall.ENOSPC) {
		return ""
	}
	if strings.HasPrefix(at.Path, a.Start.LocalDir) {
		return fmt.Sprintf("; free disk space there, or set %s to directories that have some", conf.LocalDir)
	}
	return "; free disk space there, or write to another place"
}

// Recovered turns the result of recover into an error with the stack of the panic. The
// deferred function itself must call it.
func Recovered(value any) *RecordError {
	cause, ok := value.(error)
	if !ok {
		cause = fmt.Errorf("%v", value)
	}
	return &RecordError{Err: fmt.Errorf("panic: %w", cause), Stack: panicStack(string(debug.Stack())), Offset: -1}
}

// panicStack removes the frames of recovering from a stack.
func panicStack(stack string) string {
	head, rest, found := strings.Cut(stack, "\n")
	if !found {
		return stack
	}
	if _, below, found := strings.Cut(rest, "\npanic("); found {
		if _, frames, found := strings.Cut(below, "\n"); found {
			if _, frames, found = strings.Cut(frames, "\n"); found {
				return head + "\n" + frames
			}
		}
	}
	return stack
}
