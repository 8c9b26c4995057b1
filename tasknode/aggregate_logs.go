package tasknode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// LogAggregator copies the logs of attempts to where they outlive the machine.
type LogAggregator struct {
	// Local is the directory in which an attempt has left its logs.
	Local func(*taskproc.Start) string
	// Resolve turns a full name into the file system that has it and the path
	// there.
	Resolve func(ctx context.Context, name string) (storage.FS, string, error)
}

// Aggregate copies the logs of one attempt into a directory of its own below
// Start.LogDir. An attempt without logs, and a job that keeps none, is no error.
func (k *LogAggregator) Aggregate(ctx context.Context, start *taskproc.Start) error {
	if start.LogDir == "" {
		return nil
	}
	dir := k.Local(start)
	files, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	faults := []error{err}
	for _, f := range files {
		name := start.LogDir + "/" + start.AttemptId + "/" + f.Name()
		if err := k.copy(ctx, filepath.Join(dir, f.Name()), name); err != nil {
			faults = append(faults, fmt.Errorf("log %s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

func (k *LogAggregator) copy(ctx context.Context, from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() // it was only read
	if info, err := in.Stat(); err != nil || info.Size() == 0 {
		return err
	}
	fsys, path, err := k.Resolve(ctx, to)
	if err != nil {
		return err
	}
	out, err := fsys.Create(ctx, path, storage.CreateOptions{})
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return errors.Join(err, out.Abort())
	}
	if err := out.Close(); err != nil {
		return errors.Join(err, out.Abort())
	}
	return nil
}
