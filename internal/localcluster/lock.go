package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/syncutil"
)

// lock takes the lock of an existing directory, and waits while another process has it.
// The end of the process releases it too.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock of the cluster's directory: %w", err)
	}
	err = syncutil.Poll(ctx, 20*time.Millisecond, func(context.Context) (bool, error) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
			return false, nil
		}
		return err == nil, err
	})
	switch {
	case err == nil:
		return func() { f.Close() }, nil
	case ctx.Err() != nil:
		err = fmt.Errorf("lock of the cluster's directory, which another hammr up or down has: %w", err)
	default:
		err = fmt.Errorf("lock of the cluster's directory: %w", err)
	}
	f.Close()
	return nil, err
}
