package mr

import (
	"context"

	"github.com/hammr/hammr/storage"
)

// Open opens a file by its name. What is read of it is counted as the task's.
func (t *Task) Open(name string) (storage.File, error) { return t.node.Open(name) }

// Create makes a new file by its name; it refuses one that exists. The file is
// no part of the job's output: nobody removes it when the task is run again,
// and the attempts of one task may be at it at once. Where that matters, write
// to the job's outputs instead.
func (t *Task) Create(name string) (storage.Writer, error) {
	fsys, path, err := t.node.Resolve(t.Context(), name)
	if err != nil {
		return nil, err
	}
	return fsys.Create(t.Context(), path, storage.CreateOptions{})
}

// Remove removes a file, or a directory with all that is in it, by its name; one
// that is not there is no error.
func (t *Task) Remove(name string) error {
	fsys, path, err := t.node.Resolve(t.Context(), name)
	if err != nil {
		return err
	}
	return fsys.Remove(t.Context(), path, true)
}

// Create makes a new file by its name; it refuses one that exists.
func (d *Driver) Create(ctx context.Context, name string) (storage.Writer, error) {
	fsys, path, err := d.files.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return fsys.Create(ctx, path, storage.CreateOptions{})
}

// Resolve finds the file system and the path that a name stands for. The file
// system's URI and the path, one behind the other, are the full name: a task
// finds the same file by it, wherever it runs.
func (d *Driver) Resolve(ctx context.Context, name string) (storage.FS, string, error) {
	return d.files.Resolve(ctx, name)
}
