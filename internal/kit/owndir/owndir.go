// Package owndir makes and checks directories whose files a program trusts: they name programs
// to start, processes to end, or secrets. In /tmp another user may have made such a directory
// first. A directory is trusted if only this user and root can change what is in it.
//
//	another user's directory or link         refused
//	writable by the group or by others       refused, with the chmod command to run
//	root's, writable by a group              trusted by a user who is not root: root has chosen the
//	                                         group, as Kubernetes does for its volumes
//
// Only the directory itself is checked. A user who gives a path below a directory of another
// user trusts that user, as members of a project do with their shared disk. So files that name a
// program or a process are read by ReadFile, which checks their owner too.
package owndir

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Make makes a directory and its missing parents, with the mode that the umask leaves, and calls
// Check.
func Make(dir string, mode fs.FileMode) error {
	if err := os.MkdirAll(dir, mode); err != nil {
		return err
	}
	return Check(dir)
}

// Check refuses a directory that another user than this one and root can change. The error names
// the directory and the remedy; it wraps fs.ErrNotExist if there is none.
func Check(dir string) error {
	info, err := os.Lstat(dir)
	if err == nil && info.Mode().Type() == fs.ModeSymlink {
		if err := checkOwner(dir, "link", info); err != nil {
			return err
		}
		info, err = os.Stat(dir)
	}
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	}
	return check(dir, "directory", info)
}

// ReadFile reads a regular file that no other user than this one and root can change. The error
// names the file, and wraps fs.ErrNotExist if there is none.
func ReadFile(name string) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe of another user must not block
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err == nil {
		err = check(name, "file", info)
	}
	if err != nil {
		return nil, err
	}
	return io.ReadAll(f)
}

// check refuses a file of another user, or one that others can write.
func check(name, kind string, info fs.FileInfo) error {
	if err := checkOwner(name, kind, info); err != nil {
		return err
	}
	forbidden := fs.FileMode(0o022)
	if owner, _ := Owner(info); owner == 0 && os.Geteuid() != 0 {
		forbidden = 0o002
	}
	if info.Mode().Perm()&forbidden != 0 {
		return fmt.Errorf("%s %s: mode %04o, other users can write to it; run chmod go-w %[2]s, or give another", kind, name, info.Mode().Perm())
	}
	return nil
}

// checkOwner refuses a file of another user than this one and root.
func checkOwner(name, kind string, info fs.FileInfo) error {
	owner, err := Owner(info)
	if err != nil {
		return fmt.Errorf("%s %s: %w", kind, name, err)
	}
	if owner != 0 && owner != os.Geteuid() {
		return fmt.Errorf("%s %s belongs to %s, who can change what this program trusts; give another, such as one in your home directory", kind, name, userName(owner))
	}
	return nil
}

// Owner returns the user id of the owner of a file.
func Owner(info fs.FileInfo) (int, error) {
	stat, isUnix := info.Sys().(*syscall.Stat_t)
	if !isUnix {
		return 0, errors.New("the owner is unknown")
	}
	return int(stat.Uid), nil
}

// userName returns "user NAME", or "uid N" if the user has no name here.
func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return "user " + u.Username
	}
	return "uid " + strconv.Itoa(uid)
}
