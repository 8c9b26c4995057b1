package local

import (
	"errors"
	"io/fs"
	"os"
)

// renameInSteps renames without replacing on systems that cannot do it in one
// step. A file gets its new name by link, which never replaces; a crash in
// between leaves it under both names. For a directory, and where there are no
// links, the target is looked for first; what another process makes there in
// the moment between is replaced.
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
		// The file system has no links; look before leaping, as for directories.
	}
	if _, err := os.Lstat(to); err == nil {
		return fs.ErrExist
	} else if !errors.Is(err, fs.ErrNotExist) {
		return cause(err)
	}
	return cause(os.Rename(from, to))
}

// cause strips the paths from an error of package os; the caller adds its own.
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
