package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// stagedDir is a directory of results that has its name only when it is whole.
type stagedDir struct {
	final string
	path  string // where results are written
	done  bool
}

// refuseExisting tells of something that has the name of a directory to write.
func refuseExisting(dir string) error {
	if _, err := os.Lstat(dir); err == nil {
		return fmt.Errorf("%s exists; remove it, or name another directory with --out", dir)
	}
	return nil
}

// tryDir fails when a directory could not be made, which is better told before
// long work than behind it. Nothing of it stays.
func tryDir(dir string) error {
	d, err := stageDir(dir)
	if err != nil {
		return err
	}
	return os.Remove(d.path)
}

// stageDir makes the directory under another name beside its own. It is to be
// discarded, which does nothing once it is kept.
func stageDir(final string) (*stagedDir, error) {
	parent, base := filepath.Dir(final), filepath.Base(final)
	if err := os.MkdirAll(parent, 0o777); err != nil {
		return nil, err
	}
	d := &stagedDir{final: final, path: filepath.Join(parent, fmt.Sprintf(".%s.%d", base, os.Getpid()))}
	return d, os.Mkdir(d.path, 0o777)
}

// keep gives the directory its name.
func (d *stagedDir) keep() error {
	if err := refuseExisting(d.final); err != nil {
		return err
	}
	err := os.Rename(d.path, d.final)
	d.done = err == nil
	return err
}

func (d *stagedDir) discard() {
	if !d.done {
		_ = os.RemoveAll(d.path) // what is left behind has another name than what was asked for
	}
}

// file writes one file of the directory, or of one inside it, which it makes.
func (d *stagedDir) file(name string, write func(io.Writer) error) error {
	name = filepath.Join(d.path, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	return writeNew(name, write)
}

// writeNew writes a file that does not exist; nothing of it is left when it fails.
func writeNew(name string, write func(io.Writer) error) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(write(out), out.Close()); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
