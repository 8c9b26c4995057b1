package procfs

import (
	"fmt"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Kept are descriptors that the next program of this process inherits. Go closes all others
// when the program is replaced. The zero value has none.
type Kept struct{ fds []int }

// Add adds the descriptor of an open file or connection and returns its number. The file must
// stay open until the program is replaced.
func (k *Kept) Add(c syscall.Conn) (fd int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	if err := raw.Control(func(d uintptr) { fd = int(d) }); err != nil {
		return 0, err
	}
	k.fds = append(k.fds, fd)
	return fd, nil
}

// Inherited returns a file that the program before this one has kept. Children of this program
// do not inherit it.
func Inherited(fd int, name string) *os.File {
	syscall.CloseOnExec(fd)
	return os.NewFile(uintptr(fd), name)
}

// Replace replaces the program of this process by another one. The process keeps its id, its
// children and the kept descriptors. If Replace succeeds it does not return; otherwise the
// process continues as before. The Starter must be that of the main thread.
func (s *Starter) Replace(path string, args, env []string, kept *Kept) error {
	return s.Start(func() error {
		syscall.ForkLock.Lock() // no child that is started now may inherit the descriptors
		defer syscall.ForkLock.Unlock()
		for _, fd := range kept.fds {
			if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, 0); err != nil {
				return fmt.Errorf("descriptor %d: %w", fd, err)
			}
		}
		err := syscall.Exec(path, args, env)
		for _, fd := range kept.fds {
			syscall.CloseOnExec(fd)
		}
		return fmt.Errorf("start of %s: %w", path, err)
	})
}
