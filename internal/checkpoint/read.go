package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// FileRef is a checkpoint file as recorded when it was written.
type FileRef struct {
	Path     string
	Bytes    int64
	Checksum uint64 // xxhash64 over the file
}

// Read reads and verifies a checkpoint file.
func (r FileRef) Read(ctx context.Context, from Source, patience RetryPolicy) (*taskproc.CheckpointBody, error) {
	if r.Bytes < 0 || r.Bytes > maxLength {
		return nil, &SourceError{fmt.Errorf("%w: %d bytes recorded", storage.ErrCorrupt, r.Bytes)}
	}
	var b []byte
	err := patience.Do(ctx, func() error {
		f, err := from.Open(ctx, r.Path, 0, -1)
		if err != nil {
			return err
		}
		b, err = io.ReadAll(io.LimitReader(f, r.Bytes+1))
		if err = errors.Join(err, f.Close()); err == nil && (int64(len(b)) != r.Bytes || xxhash.Sum64(b) != r.Checksum) {
			err = fmt.Errorf("%w: %d bytes that are not those recorded", storage.ErrCorrupt, len(b))
		}
		return err
	})
	if err != nil {
		return nil, &SourceError{err}
	}
	body, err := Decode(b)
	if err != nil {
		return nil, &SourceError{err}
	}
	return body, nil
}
