package rig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

func (r *Rig) daemonDir(name string) string { return filepath.Join(r.cfg.Dir, name) }

func (r *Rig) fillFile(name string) string { return filepath.Join(r.daemonDir(name), "fill") }

// FillDisk takes all disk space of a tasknode. It needs Config.SmallDisks. It writes
// smaller and smaller blocks until not even 512 bytes fit. The loop is bounded, so that a
// disk that grows is an error and not an endless write.
func (r *Rig) FillDisk(name string) error {
	if r.cfg.SmallDisks == 0 {
		return fmt.Errorf("full disk of %s: it has no file system of its own", name)
	}
	f, err := os.OpenFile(r.fillFile(name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	zeros := make([]byte, 64<<10)
	for range r.cfg.SmallDisks / 512 {
		n, err := f.Write(zeros)
		switch {
		case errors.Is(err, syscall.ENOSPC) && len(zeros) == 512:
			return nil
		case errors.Is(err, syscall.ENOSPC):
			zeros = zeros[:max(512, len(zeros)/2)]
		case err != nil:
			return fmt.Errorf("full disk of %s, after %d bytes: %w", name, n, err)
		}
	}
	return fmt.Errorf("full disk of %s: it is larger than %d bytes", name, r.cfg.SmallDisks)
}

// FreeDisk frees the space that FillDisk has taken. A disk that is not filled any more is no
// error: two faults may have filled it.
func (r *Rig) FreeDisk(name string) error {
	if err := os.Remove(r.fillFile(name)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
