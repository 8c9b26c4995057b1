package transfer

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage"
)

// The files of a stored channel are in a file system that every machine can read. A Fetcher
// reads them directly, without a Server.

// Resolve finds the file system and the path of a full name.
type Resolve func(ctx context.Context, name string) (storage.FS, string, error)

// storedIndex reads the index of a stored output.
func (f *Fetcher) storedIndex(ctx context.Context, o Output) (*shuffle.Index, error) {
	fsys, path, err := f.cfg.Resolve(ctx, o.Stored)
	if err != nil {
		return nil, err
	}
	return shuffle.ReadReportedIndex(ctx, fsys, path, o.IndexChecksum)
}

// openStored opens a run of a stored output.
func (f *Fetcher) openStored(ctx context.Context, o Output, run shuffle.Run) (io.ReadCloser, error) {
	fsys, path, err := f.cfg.Resolve(ctx, o.Stored)
	if err != nil {
		return nil, err
	}
	file, err := fsys.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(run.Offset, io.SeekStart); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// classifyStored does the work of classify for a stored output: a missing file will not
// appear later.
func classifyStored(ctx context.Context, f *FetchError) error {
	err := classify(ctx, f)
	if errors.Is(err, fs.ErrNotExist) && ctx.Err() == nil {
		return &LostError{f.Output, f}
	}
	return err
}
