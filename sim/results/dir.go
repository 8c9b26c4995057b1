package results

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Dir is a directory of results under a temporary name. Commit gives it its own name, so
// that a directory of that name is always complete.
//
//	Stage ─► .out.4711 (files are written) ── Commit ─► out
//	                                       └─ Discard, or a crash: no "out"
type Dir struct {
	final     string
	path      string // where files are written
	committed bool
}

// CheckNew returns an error if something exists under the name of an output. Commands call
// it before they start to work.
func CheckNew(name string) error {
	if _, err := os.Lstat(name); err == nil {
		return fmt.Errorf("%s exists; remove it, or name another directory with --out", name)
	}
	return nil
}

// CheckWritable returns an error if the directory cannot be made: it is better to know
// before long work. It leaves no directory. A simulation may take hours; a directory
// without permission must not fail at its end.
func CheckWritable(name string) error {
	d, err := Stage(name)
	if err != nil {
		return err
	}
	return os.Remove(d.path)
}

// Stage makes the directory under a temporary name next to its own. The caller defers
// Discard. The temporary name has the process id, so that two commands do not share it.
func Stage(final string) (*Dir, error) {
	parent, base := filepath.Dir(final), filepath.Base(final)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, err
	}
	d := &Dir{final: final, path: filepath.Join(parent, fmt.Sprintf(".%s.%d", base, os.Getpid()))}
	return d, os.Mkdir(d.path, 0o777)
}

// Path returns the directory for files until Commit.
func (d *Dir) Path() string { return d.path }

// Commit gives the directory its name. A directory that was created meanwhile is not
// overwritten.
func (d *Dir) Commit() error {
	if err := CheckNew(d.final); err != nil {
		return err
	}
	err := os.Rename(d.path, d.final)
	d.committed = err == nil
	return err
}

// Discard removes the directory. After Commit it does nothing. Callers defer it right after
// Stage.
func (d *Dir) Discard() {
	if !d.committed {
		_ = os.RemoveAll(d.path) // leftovers have the temporary name
	}
}

// WriteFile writes a file of the directory and makes the directories above it. name is
// relative to the directory.
func (d *Dir) WriteFile(name string, write func(io.Writer) error) error {
	name = filepath.Join(d.path, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return WriteNew(name, write)
}

// WriteNew writes a file that must not exist. If it fails, it leaves no file.
func WriteNew(name string, write func(io.Writer) error) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(write(out), out.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
