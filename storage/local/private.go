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
	dir, dirErr := os.Stat(path.Dir(name))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateMode(dir, storage.PrivateFile))
	if err != nil {
		return nil, err
	}
	if dirErr == nil {
		dirErr = inherit(f.Chown, dir)
	}
	if dirErr != nil {
		return nil, errors.Join(dirErr, f.Close(), os.Remove(name))
	}
	return f, nil
}

// makePrivate makes a private directory and its missing parents.
func makePrivate(dir string) error {
	parent, err := os.Stat(path.Dir(dir))
	if errors.Is(err, fs.ErrNotExist) {
		if err = makePrivate(path.Dir(dir)); err == nil {
			parent, err = os.Stat(path.Dir(dir))
		}
	}
	if err != nil {
		return err
	}
	err = os.Mkdir(dir, privateMode(parent, storage.PrivateDir))
	if errors.Is(err, fs.ErrExist) {
		return os.MkdirAll(dir, storage.PrivateDir) // it was there, or another writer has just made it; an error if it is a file
	}
	if err != nil {
		return err
	}
	return inherit(func(uid, gid int) error { return os.Lchown(dir, uid, gid) }, parent)
}

// privateMode leaves the group out unless the directory gives its own group to new files, by its
// setgid bit: the group of the process may be that of all users.
func privateMode(dir fs.FileInfo, mode fs.FileMode) fs.FileMode {
	if dir == nil || dir.Mode()&fs.ModeSetgid == 0 {
		mode &^= 0o060
	}
	return mode
}

// inherit gives what root has made the owner and the group of its directory.
func inherit(chown func(uid, gid int) error, dir fs.FileInfo) error {
	owner, isUnix := dir.Sys().(*syscall.Stat_t)
	if !isUnix || os.Geteuid() != 0 {
		return nil
	}
	return chown(int(owner.Uid), int(owner.Gid))
}
