package local

import (
	"errors"

	"golang.org/x/sys/unix"
)

// renameNoReplace renames atomically and fails with EEXIST if the target exists. Plain
// rename(2) would replace the target. On file systems that do not support the flag it falls
// back to renameInSteps.
func renameNoReplace(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EINVAL) {
		return renameInSteps(from, to)
	}
	return err
}
