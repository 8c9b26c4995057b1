package checkpoint

import (
	"context"
	"errors"
	"io"

	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// Source opens files that a checkpoint names: length bytes from offset, or all from
// there if length is negative.
type Source interface {
	Open(ctx context.Context, path string, offset, length int64) (io.ReadCloser, error)
}

// FSFiles opens files of a file system by their paths.
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

// RemoteFiles requests files of a job from another machine's shuffle server.
type RemoteFiles struct {
	Fetcher      *transfer.Fetcher
	Address, Job string
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

// IsUnusable reports whether an error is one of a checkpoint file, or of files that it
// names.
func IsUnusable(err error) bool {
	return errors.As(err, new(*SourceError)) || errors.As(err, new(*shuffle.SourceError))
}
