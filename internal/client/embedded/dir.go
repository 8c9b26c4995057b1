package embedded

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hammr/hammr/internal/kit/owndir"
)

// The temporary directory of an engine has a lock, which the kernel releases when the process
// ends, whatever ends it:
//
//	PARENT/hammr-RANDOM/lock     locked by the engine
//	PARENT/hammr-RANDOM/...      local files of tasks
//
// So an engine can remove what others have left that were killed.
const (
	dirPrefix = "hammr-"
	lockFile  = "lock"
)

// makeDir makes a temporary directory in parent and locks it until the file is closed. It also
// makes parent if that is missing, as Hadoop does with its local directories. The path is absolute,
// because a task may change the working directory.
func makeDir(parent string) (dir string, lock *os.File, err error) {
	if parent, err = filepath.Abs(cmp.Or(parent, os.TempDir())); err != nil {
		return "", nil, err
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return "", nil, err
	}
	removeAbandoned(parent)
	if dir, err = os.MkdirTemp(parent, dirPrefix); err != nil {
		return "", nil, err
	}
	if lock, err = lockDir(dir); err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, lock, nil
}

// lockDir locks a new directory. The file has another name until it is locked, so that no other
// engine takes the directory for one that was left.
func lockDir(dir string) (*os.File, error) {
	name := filepath.Join(dir, lockFile)
	lock, err := os.OpenFile(name+".new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	return lock, nil
}

// removeAbandoned removes directories of this user whose engines have ended without doing so. It
// leaves what it cannot remove: the job of this engine does not need it.
func removeAbandoned(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), dirPrefix) {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue
		}
		if owner, err := owndir.Owner(info); err == nil && owner == os.Geteuid() {
			removeUnlocked(filepath.Join(parent, e.Name()))
		}
	}
}

// removeUnlocked removes a directory unless an engine has locked it, or it has no lock.
func removeUnlocked(dir string) {
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return
	}
	defer lock.Close() // it was only locked
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		_ = os.RemoveAll(dir) // a later engine tries again
	}
}
