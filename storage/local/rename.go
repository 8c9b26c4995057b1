package local

import (
	"errors"
	"io/fs"
	"os"
)

// renameInSteps renames without replacing the target, on systems without an atomic operation
// for it.
//
//	file        link(from, to), then remove(from)     a crash between the steps leaves both names
//	directory   check that to is free, then rename    a target made in between is replaced
//
// A file system without links treats files as directories.
func renameInSteps(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return cause(err)
	}
	if !info.IsDir() {
		err := os.Link(from, to)
		if err == nil {
			return cause(os.Remove(from))
		}
		if errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
			return cause(err)
		}
		// The file system has no links. Check for the target first, as for directories.
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return cause(err)
	}
	return cause(os.Rename(from, to))
}

// cause returns the error of package os without its paths, because the caller adds both
// paths itself.
func cause(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}
