package transfer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/hammr/hammr/storage"
)

// FetchError says that a copy did not succeed though the output may be sound:
// it can be tried again.
type FetchError struct {
	Output    Output
	Partition int
	Run       int   // of the partition; -1: the index
	Offset    int64 // of the run in the data file; bytes
	Err       error

	// damaged says that the source did answer, with something that is wrong or
	// ends early. It is worth reading once more, and then asking whose fault it
	// is.
	damaged bool
}

func (e *FetchError) Error() string {
	if e.Run < 0 {
		return fmt.Sprintf("fetch index of %v: %v", e.Output, e.Err)
	}
	return fmt.Sprintf("fetch partition %d of %v, run %d at offset %d: %v", e.Partition, e.Output, e.Run, e.Offset, e.Err)
}

// Unwrap gives errors.Is the cause.
func (e *FetchError) Unwrap() error { return e.Err }

// LostError says that an output cannot be had any more: its map has to run again.
type LostError struct {
	Output Output
	Err    error
}

func (e *LostError) Error() string { return fmt.Sprintf("%v is lost: %v", e.Output, e.Err) }

// Unwrap gives errors.Is the cause.
func (e *LostError) Unwrap() error { return e.Err }

// BusyError says that a source is sound but has too much to do.
type BusyError struct {
	Output Output
	After  time.Duration // it wants to be asked again; 0 when it does not say
}

func (e *BusyError) Error() string { return fmt.Sprintf("%s is busy", e.Output.Address) }

// statusError is an answer other than the one hoped for.
type statusError struct {
	status  int
	message string
	after   time.Duration // Retry-After
}

func (e *statusError) Error() string {
	return fmt.Sprintf("answer %d %s: %s", e.status, http.StatusText(e.status), strings.TrimSpace(e.message))
}

// bodyError is a fault of an answer that had begun well.
type bodyError struct{ error }

func (e bodyError) Unwrap() error { return e.error }

// isDamage reports whether an answer had begun well and then went wrong. Silence
// is not damage: asking again at once would cost as long again.
func isDamage(err error) bool {
	var body bodyError
	return (errors.As(err, &body) || errors.Is(err, storage.ErrCorrupt)) && !errors.Is(err, os.ErrDeadlineExceeded)
}

// classify makes of what went wrong with a fetch the error that tells what to do
// about it.
func classify(ctx context.Context, f *FetchError) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var answer *statusError
	if !errors.As(f.Err, &answer) {
		f.damaged = isDamage(f.Err)
		return f
	}
	switch answer.status {
	case http.StatusNotFound, http.StatusGone:
		return &LostError{f.Output, f}
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		return &BusyError{f.Output, answer.after}
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusMethodNotAllowed:
		return fmt.Errorf("shuffle server refuses: %s: %w", f.Error(), answer)
	default:
		f.damaged = true
		return f
	}
}
