package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"syscall"

	"github.com/hammr/hammr/storage"
)

// Identify implements storage.Identifier. It follows symbolic links up to the part of the path that
// does not exist. The ids are device and inode, so that a second mount of a directory is the same
// directory, and so is a name in other case where the file system ignores case. A directory that
// contains the source of a second mount is not recognized as its ancestor.
func (f *FS) Identify(ctx context.Context, name string) (storage.Identity, error) {
	name, err := storage.CleanPath(ctx, "identify", name)
	if err != nil {
		return storage.Identity{}, err
	}
	id := storage.Identity{Systems: []string{f.URI()}}
	existing, err := filepath.EvalSymlinks(name)
	for isMissing(err) && name != "/" {
		id.Rest = path.Join(path.Base(name), id.Rest)
		name = path.Dir(name)
		existing, err = filepath.EvalSymlinks(name)
	}
	for err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(existing); err != nil {
			break
		}
		id.Ancestors = append(id.Ancestors, fileID(existing, info))
		if existing == path.Dir(existing) {
			return id, nil
		}
		existing = path.Dir(existing)
	}
	return storage.Identity{}, err
}

// isMissing reports whether a path does not exist, also because a file has the name of a
// directory in it.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
