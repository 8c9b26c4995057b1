package tasknode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// removeTree removes dir with its content, several files at a time: the kernel takes a
// tenth of a second to free the pages of a gigabyte of segments.
func removeTree(dir string) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	// RemoveAll reports the entries that cannot be read.
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil
		}
		group.Go(func() error {
			if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			return nil
		})
		return nil
	})
	return errors.Join(group.Wait(), os.RemoveAll(dir))
}
