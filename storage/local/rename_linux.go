package local

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames in one step that fails with EEXIST where the target
// exists. Some file systems know no such step; there it falls back to two.
func renameNoReplace(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return renameInSteps(from, to)
	}
	return err
}
