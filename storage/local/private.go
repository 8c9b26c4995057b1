package local

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"syscall"

	"github.com/hammr/hammr/storage"
)

// createPrivate is createExclusive for storage.CreateOptions.Private.
func createPrivate(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, storage.PrivateFile)
	if err != nil {
		return nil, err
	}
	if err := inherit(f.Chown, path.Dir(name)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(name))
	}
	return f, nil
}

// makePrivate makes a private directory and its missing parents.
func makePrivate(dir string) error {
	err := os.Mkdir(dir, storage.PrivateDir)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makePrivate(path.Dir(dir)); err == nil {
			err = os.Mkdir(dir, storage.PrivateDir)
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(dir, storage.PrivateDir) // it was there, or another writer has just made it; an error if it is a file
	}
	if err != nil {
		return err
	}
	return inherit(func(uid, gid int) error { return os.Lchown(dir, uid, gid) }, path.Dir(dir))
}

// inherit gives a new file the group of its directory, as HDFS does, and if this is root also its
// owner. A user who is not in that group keeps their own.
func inherit(chown func(uid, gid int) error, dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, isUnix := info.Sys().(*syscall.Stat_t)
	if !isUnix {
		return nil
	}
	if os.Geteuid() == 0 {
		return chown(int(owner.Uid), int(owner.Gid))
	}
	if err := chown(-1, int(owner.Gid)); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
