package mr

import (
	"context"

	"github.com/hammr/hammr/storage"
)

// Open opens a file by name. The bytes that it reads count as the task's.
func (t *Task) Open(name string) (storage.File, error) { return t.node.Attempt.Open(name) }

// Create creates a file by name; it refuses one that exists. The file is not part of the
// job's output: it is not removed when the task runs again, and several attempts of a task
// may create it at the same time. Where that matters, write to the job's outputs.
func (t *Task) Create(name string) (storage.Writer, error) {
	fsys, path, err := t.node.Attempt.Resolve(t.Context(), name)
	if err != nil {
		return nil, err
	}
	return fsys.Create(t.Context(), path, storage.CreateOptions{})
}

// Remove removes a file, or a directory with everything below it, by name. A missing file is
// not an error.
func (t *Task) Remove(name string) error {
	fsys, path, err := t.node.Attempt.Resolve(t.Context(), name)
	if err != nil {
		return err
	}
	return fsys.Remove(t.Context(), path, true)
}

// Create creates a file by name; it refuses one that exists.
func (d *Driver) Create(ctx context.Context, name string) (storage.Writer, error) {
	fsys, path, err := d.files.Resolve(ctx, name)
	if err != nil {
		return nil, err
	}
	return fsys.Create(ctx, path, storage.CreateOptions{})
}

// Resolve finds the file system and the path that a name stands for. The file system's URI
// followed by the path is the full name, which means the same file in every task.
func (d *Driver) Resolve(ctx context.Context, name string) (storage.FS, string, error) {
	return d.files.Resolve(ctx, name)
}
