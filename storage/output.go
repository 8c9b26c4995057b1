package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// CheckOutput returns an error that wraps fs.ErrExist, in Hadoop's wording, if the output
// directory exists. Name is the full name of the directory.
func CheckOutput(ctx context.Context, fsys FS, dir, name string) error {
	_, err := fsys.Stat(ctx, dir)
	switch {
	case err == nil:
		return fmt.Errorf("Output directory %s already exists%w", name, silent{fs.ErrExist}) //nolint:staticcheck // Hadoop's wording
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("output directory %s: %w", name, err)
}
