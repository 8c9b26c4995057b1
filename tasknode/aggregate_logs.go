package tasknode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// LogAggregator copies the logs of attempts to a file system that outlives the machine.
type LogAggregator struct {
	// Local returns the directory with an attempt's logs.
	Local func(*taskproc.Start) string
	// Check returns why logs may not be written to a directory, nil if they may. A job chooses
	// the directory, and the daemon may have more rights than the job's user. The default
	// accepts every directory.
	Check func(ctx context.Context, dir string) error
	// Resolve returns the file system and the path of a full name.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
}

// Aggregate copies the logs of one attempt to its own directory below Start.LogDir. If the
// attempt has no logs, or its job does not aggregate them, it returns nil.
//
// It copies as many logs as it can and reports all errors together. The local files stay
// until the job is removed.
func (k *LogAggregator) Aggregate(ctx context.Context, start *taskproc.Start) error {
	if start.LogDir == "" {
		return nil
	}
	if k.Check != nil {
		if err := k.Check(ctx, start.LogDir); err != nil {
			return err
		}
	}
	dir := k.Local(start)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	errs := []error{err}
	for _, f := range files {
		name := start.LogDir + "/" + start.AttemptId + "/" + f.Name()
		if err := k.copy(ctx, filepath.Join(dir, f.Name()), name); err != nil {
			errs = append(errs, fmt.Errorf("log %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// copy copies one log. It skips an empty log, because most tasks print nothing and each file
// costs the file system a request.
func (k *LogAggregator) copy(ctx context.Context, from, to string) error {
	in, err := OpenRegular(from, math.MaxInt64)
	if err != nil {
		return err
	}
	defer in.Close() // the file was only read
	if info, err := in.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	fsys, path, err := k.Resolve(ctx, to)
	if err != nil {
		return err
	}
	return storage.WriteFile(ctx, fsys, path, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
