package procfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// End ends a process by a signal. It sends SIGKILL if the process still runs after timeout
// or at the end of ctx. It returns when the process has ended, and does nothing if it had
// ended before. alive reports whether the id still belongs to the process, since ids are
// reused.
func End(ctx context.Context, pid int, alive func() bool, sig syscall.Signal, timeout time.Duration) error {
	if !alive() {
		return nil
	}
	if err := syscall.Kill(pid, sig); err != nil && err != syscall.ESRCH {
		return fmt.Errorf("end of process %d: %w", pid, err)
	}
	if awaitEnd(ctx, alive, timeout) == nil {
		return nil
	}
	if alive() {
		syscall.Kill(pid, syscall.SIGKILL) // awaitEnd checks the result
	}
	if awaitEnd(context.WithoutCancel(ctx), alive, timeout) != nil {
		return fmt.Errorf("end of process %d: it is still there after SIGKILL", pid)
	}
	return nil
}

func awaitEnd(ctx context.Context, alive func() bool, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return syncutil.Poll(ctx, 10*time.Millisecond, func(context.Context) (bool, error) { return !alive(), nil })
}

// Lock takes the exclusive lock of a file, which it creates if necessary. It waits while
// another process has the lock. The lock is also released when this process ends. Go closes
// the file in child processes, so no child keeps the lock.
func Lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	err = syncutil.Poll(ctx, 20*time.Millisecond, func(context.Context) (bool, error) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		f.Close()
		return nil, err
	}
	return func() { f.Close() }, nil
}
