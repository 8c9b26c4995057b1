package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/hammr/hammr/internal/kit/syncutil"
)

// image is a file with an ext4, mounted at the directory of a daemon, that can lose power: what was
// not synced is gone then. Its journal is written only when a program syncs, and a rename does not
// sync the data of the file, so nothing is safe by chance.
//
//	write, rename ─► page cache ── fsync ─► journal and blocks in the image
//	                    └── power loss ─► gone; the next mount replays the journal
type image struct{ file, dir string }

const (
	imageOptions = "loop,noauto_da_alloc,commit=600"
	// shutdownRequest is FS_IOC_SHUTDOWN of linux/fs.h, and withoutLog its flag NOLOGFLUSH: the
	// file system ends at once, and writes nothing more.
	shutdownRequest = 0x8004587d
	withoutLog      = 2

	unmountTimeout = 10 * time.Second
)

// canLosePower reports why this process cannot make images; nil if it can.
func canLosePower() error {
	for _, tool := range []string{"mkfs.ext4", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("power loss needs the program %q (package e2fsprogs or mount): %w", tool, err)
		}
	}
	f, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("power loss needs loop devices, which root may use: %w", err)
	}
	return f.Close()
}

// create makes and mounts the file system. The directory is empty then.
func (i image) create(size int64) error {
	if err := os.WriteFile(i.file, nil, 0o600); err != nil {
		return err
	}
	if err := os.Truncate(i.file, size); err != nil {
		return err
	}
	if out, err := exec.Command("mkfs.ext4", "-q", "-F", i.file).CombinedOutput(); err != nil {
		return fmt.Errorf("mkfs.ext4 %s: %w: %s", i.file, err, out)
	}
	if err := i.mount(); err != nil {
		return err
	}
	return os.Remove(filepath.Join(i.dir, "lost+found"))
}

func (i image) mount() error {
	if out, err := exec.Command("mount", "-o", imageOptions, i.file, i.dir).CombinedOutput(); err != nil {
		return fmt.Errorf("mount of %s: %w: %s", i.file, err, out)
	}
	return nil
}

// losePower takes what was not synced from the file system, and mounts it again. No process may
// have a file of it open for long.
func (i image) losePower(ctx context.Context) error {
	f, err := os.Open(i.dir)
	if err != nil {
		return err
	}
	err = unix.IoctlSetPointerInt(int(f.Fd()), shutdownRequest, withoutLog)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("power loss of %s: %w", i.dir, err)
	}
	ctx, cancel := context.WithTimeout(ctx, unmountTimeout)
	defer cancel()
	err = syncutil.Poll(ctx, 5*time.Millisecond, func(context.Context) (bool, error) {
		err := syscall.Unmount(i.dir, 0)
		if err == syscall.EBUSY {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("unmount of %s after a power loss: %w", i.dir, err)
	}
	return i.mount()
}

func (r *Rig) image(name string) image {
	return image{file: filepath.Join(r.cfg.Dir, name+".image"), dir: r.daemonDir(name)}
}

// LosePower ends a daemon and its tasks as a power failure of its machine does: what they have not
// synced is gone. It needs Config.PowerLoss; the error wraps ErrNoPowerLoss if this machine has no
// such disks.
func (r *Rig) LosePower(ctx context.Context, name string) error {
	if r.noPowerLoss != nil {
		return r.noPowerLoss
	}
	var errs []error
	for _, pid := range r.Tasks(name) {
		errs = append(errs, r.SignalTask(name, pid, syscall.SIGKILL))
	}
	if err := errors.Join(append(errs, r.Kill(ctx, name))...); err != nil {
		return err
	}
	return r.image(name).losePower(ctx)
}

// ErrNoPowerLoss is the error of a power loss on a machine that has no disks for it.
var ErrNoPowerLoss = errors.New("no disks that can lose power")
