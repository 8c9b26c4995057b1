package tasknode

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"golang.org/x/sync/errgroup"
)

// removeTree removes dir and all in it, several files at a time: the kernel
// takes a tenth of a second to forget the pages of a gigabyte of segments.
func removeTree(dir string) error {
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	// Entries that cannot be read are left to RemoveAll, which reports them.
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
