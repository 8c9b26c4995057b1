//go:build unix

package daemon

import "syscall"

// openFilesLimit returns how many files this process may have open; 0 if that is not known.
func openFilesLimit() int {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > 1<<30 {
		return 0
	}
	return int(limit.Cur)
}
