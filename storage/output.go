package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// CheckOutput refuses an output directory that exists, in Hadoop's words and
// wrapping fs.ErrExist. Name is the directory's full name.
func CheckOutput(ctx context.Context, fsys FS, dir, name string) error {
	_, err := fsys.Stat(ctx, dir)
	switch {
	case err == nil:
		return fmt.Errorf("Output directory %s already exists%w", name, silent{fs.ErrExist}) //nolint:staticcheck // Hadoop's words
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return fmt.Errorf("output directory %s: %w", name, err)
}
