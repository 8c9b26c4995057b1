package checkpoint

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// Source opens files that a checkpoint names. It reads length bytes from offset, or the rest
// of the file if length is negative. The caller closes every file that it opens. Several
// files may be open at once.
type Source interface {
	Open(ctx context.Context, path string, offset, length int64) (io.ReadCloser, error)
}

// FSFiles opens files of a file system by their paths. It is the Source of files on the same
// machine, and of copies in shared storage.
type FSFiles struct{ FS storage.FS }

// Open implements Source.
func (s FSFiles) Open(ctx context.Context, path string, offset, length int64) (io.ReadCloser, error) {
	f, err := s.FS.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if length < 0 {
		return f, nil
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(f, length), f}, nil
}

// RemoteFiles requests files of a job from another machine's shuffle server. It needs no
// process of the job there: the tasknode has the server.
type RemoteFiles struct {
	Fetcher      *transfer.Fetcher
	Address, Job string // host:port of the server, and the job that the files belong to
}

// Open implements Source.
func (s RemoteFiles) Open(ctx context.Context, path string, offset, length int64) (io.ReadCloser, error) {
	file, err := transfer.FileOf(s.Address, s.Job, path)
	if err != nil {
		return nil, err
	}
	return s.Fetcher.Open(ctx, file, offset, length)
}

// SourceError is an error of the source of a copy, not of its destination.
type SourceError struct{ Err error }

func (e *SourceError) Error() string { return e.Err.Error() }
func (e *SourceError) Unwrap() error { return e.Err }

// IsUnusable reports whether an error is from a checkpoint file, or from files that the
// checkpoint names.
func IsUnusable(err error) bool {
	return errors.As(err, new(*SourceError)) || errors.As(err, new(*shuffle.SourceError))
}

// RetryPolicy limits how long a source that does not answer is tried again. The machine of a
// checkpoint may be lost together with its files.
type RetryPolicy struct {
	Timeout  time.Duration // time after which the source is considered lost
	MaxDelay time.Duration // longest delay between two requests
}

// firstDelay is the delay before the first retry. It doubles with each further one.
const firstDelay = 100 * time.Millisecond

// Do calls try until it succeeds or no retry is left. It repeats try after errors of the
// network until Timeout. It repeats try once after damaged data, because the network may
// have damaged it. Bytes that are damaged again are damaged on disk. If ctx ends, the error
// is its cause.
func (p RetryPolicy) Do(ctx context.Context, try func() error) error {
	longest := min(p.MaxDelay, p.Timeout/4)
	begun, damaged := time.Now(), false
	for delay := min(firstDelay, longest); ; delay = min(2*delay, longest) {
		err := try()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		after, later := transfer.RetryLater(err)
		switch {
		case errors.Is(err, storage.ErrCorrupt) && !damaged:
			damaged = true
		case later && time.Since(begun) < p.Timeout:
			_ = syncutil.Sleep(ctx, max(after, delay)) // the next error shows the end of ctx
		default:
			return err
		}
	}
}
