package rig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/hammr/hammr/chaos/guard"
	"github.com/hammr/hammr/internal/data/taskdir"
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

// tasksDir returns the directory in which a tasknode keeps the files of its tasks.
func (r *Rig) tasksDir(name string) string { return filepath.Join(r.daemonDir(name), "tasks") }

// Segments returns a tasknode's files of finished attempts with segments, of a job or, for "",
// of all jobs, in order of their names.
func (r *Rig) Segments(name, job string) []string {
	return guard.Segments(filepath.Join(r.tasksDir(name), job))
}

// Spills returns the number of sorted files of a job's attempts on a tasknode, running ones
// included. It counts neither index files nor logs.
func (r *Rig) Spills(name, job string) (n int) {
	r.walk(name, job, func(path string) {
		isLog := strings.Contains(strings.TrimPrefix(path, r.tasksDir(name)), "/"+taskdir.Logs+"/")
		if strings.HasPrefix(filepath.Base(filepath.Dir(path)), "attempt_") && !strings.HasSuffix(path, ".index") && !isLog {
			n++
		}
	})
	return n
}

// walk visits the files below a tasknode's directory of tasks, without those that
// vanish meanwhile.
func (r *Rig) walk(name, job string, visit func(path string)) {
	_ = filepath.WalkDir(filepath.Join(r.tasksDir(name), job), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			visit(path)
		}
		return nil
	})
}

// Corrupt changes a byte in the middle of a tasknode's segment and returns the file. choice,
// at least 0, selects the segment. The error is guard.ErrNoSegment if there is none.
func (r *Rig) Corrupt(name string, choice int) (file string, err error) {
	return guard.Corrupt(r.tasksDir(name), choice)
}
