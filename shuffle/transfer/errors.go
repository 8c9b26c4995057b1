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

// FetchError reports that a copy failed although the output may be good. The caller may
// retry the copy.
type FetchError struct {
	Output    Output
	Partition int   // partition that was to be copied
	Run       int   // number of the run in the partition; -1: the index
	Offset    int64 // offset of the run in the data file; bytes
	Err       error // the cause

	// damaged means that the source answered, but the answer is wrong or incomplete. The
	// Fetcher then reads once more, and after that asks the source to verify its disk.
	damaged bool
}

func (e *FetchError) Error() string {
	if e.Run < 0 {
		return fmt.Sprintf("fetch index of %v: %v", e.Output, e.Err)
	}
	return fmt.Sprintf("fetch partition %d of %v, run %d at offset %d: %v", e.Partition, e.Output, e.Run, e.Offset, e.Err)
}

// Unwrap returns the cause.
func (e *FetchError) Unwrap() error { return e.Err }

// LostError reports that an output is lost: its map must run again.
type LostError struct {
	Output Output
	Err    error
}

func (e *LostError) Error() string { return fmt.Sprintf("%v is lost: %v", e.Output, e.Err) }

// Unwrap returns the cause.
func (e *LostError) Unwrap() error { return e.Err }

// IsUnreached reports whether an output counts as lost only because its source did not answer,
// or because answers were damaged on the way. The output may be good, and either machine may be
// at fault.
func IsUnreached(err error) bool {
	fetch, ok := errors.AsType[*FetchError](err)
	return ok && errors.As(err, new(*LostError)) && !fetch.damaged && !errors.As(err, new(*statusError))
}

// BusyError reports that a source works, but has too many requests.
type BusyError struct {
	Output Output
	After  time.Duration // time to wait before the next request; 0 if the source does not say
}

func (e *BusyError) Error() string { return fmt.Sprintf("%s is busy", e.Output.Address) }

// statusError is an answer with an unexpected status. Its message is the text from the
// server.
type statusError struct {
	status  int
	message string
	after   time.Duration // value of Retry-After
}

func (e *statusError) Error() string {
	return fmt.Sprintf("answer %d %s: %s", e.status, http.StatusText(e.status), strings.TrimSpace(e.message))
}

// bodyError is an error in the body of an answer: the body ended early, or is not the one
// requested.
type bodyError struct{ error }

func (e bodyError) Unwrap() error { return e.error }

// isDamage reports whether an answer began and then went wrong. A timeout is not damage: an
// immediate retry would take as long again.
func isDamage(err error) bool {
	return (errors.As(err, new(bodyError)) || errors.Is(err, storage.ErrCorrupt)) && !errors.Is(err, os.ErrDeadlineExceeded)
}

// classify converts an error of a fetch into the error type that determines the next step.
//
//	404, 410                 lost: the file is not there
//	503, 429                 busy: ask again later
//	400, 401, 403, 405       refused: a bug, or another token; no retry helps
//	other status, no answer  a FetchError: retry, and after damage verify the disk
func classify(ctx context.Context, f *FetchError) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	answer, ok := errors.AsType[*statusError](f.Err)
	if !ok {
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
