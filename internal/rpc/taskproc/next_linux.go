package taskproc

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

// redirectOutput makes two descriptors the process's standard output and error.
// It is one step for each, so that nothing printed meanwhile is lost.
func redirectOutput(stdout, stderr int) error {
	return errors.Join(unix.Dup3(stdout, unix.Stdout, 0), unix.Dup3(stderr, unix.Stderr, 0))
}

// adoptOrphans makes this process the parent of descendants whose own parent
// ends.
func adoptOrphans() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// hasDescendants reports whether a process that this one has started, or has
// become the parent of, is there or has not been waited for.
func hasDescendants() bool {
	err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
	return !errors.Is(err, syscall.ECHILD)
}
