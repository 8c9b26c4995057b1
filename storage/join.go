package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
)

// Piece is a closed file of a task's output, as recorded when it was finished.
type Piece struct {
	Path   string
	Length int64 // bytes
}

// joinTries bounds how often Join starts over because the files changed under
// it; two processes that join the same pieces disturb each other once a step.
const joinTries = 5

// Join makes of the pieces, in order, the one file target, and removes them.
// There must be at least one piece, and all on one device.
//
// It may be stopped anywhere and run again with the same arguments, and two
// processes may run it at once: it looks at what there is and goes on from
// there. Target is never seen in parts, since each way to it ends in one
// rename:
//
//	one piece      rename
//	concat         append all to the first piece, rename that
//	copy           into a temporary file beside target, check its length, rename
//
// unique names that temporary file; no other process may use the same. A file
// that is missing or has another length than recorded is an error that names
// it, and then nothing is removed.
func Join(ctx context.Context, fsys FS, target string, pieces []Piece, unique string) error {
	if len(pieces) == 0 {
		return fmt.Errorf("join into %s: no pieces", target)
	}
	j := joining{fs: fsys, target: target, pieces: pieces}
	j.temp = path.Join(path.Dir(target), "."+path.Base(target)+"."+unique)
	for _, p := range pieces {
		j.total += p.Length
		if p.Length > 0 {
			j.filled = append(j.filled, p)
		}
	}
	if len(j.filled) == 0 {
		j.filled = pieces[:1]
	}
	var err error
	for range joinTries {
		if err = j.step(ctx); !mayBeProgress(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("join into %s: %w", Name(fsys, target), err)
	}
	return nil
}

// errOtherLength marks a file that is not as long as it should be.
var errOtherLength = errors.New("other length")

// mayBeProgress reports whether an error can come of another process that
// joins the same pieces: it makes files appear, vanish and grow between two
// looks at them. Looking again tells.
func mayBeProgress(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, errOtherLength)
}

func lengthError(what, name string, have, want int64) error {
	if have < 0 {
		return fmt.Errorf("%s %s is gone%w", what, name, silent{fs.ErrNotExist})
	}
	return fmt.Errorf("%s %s holds %d bytes where %d are recorded%w", what, name, have, want, silent{errOtherLength})
}

type joining struct {
	fs     FS
	target string
	temp   string
	pieces []Piece
	filled []Piece // those with bytes in them, else the first
	total  int64   // bytes of all pieces
}

// length is the size of a file, or -1 when there is none.
func (j *joining) length(ctx context.Context, name string) (int64, error) {
	info, err := j.fs.Stat(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return -1, nil
	}
	if err == nil && info.IsDir {
		err = fmt.Errorf("%s is a directory", name)
	}
	return info.Size, err
}

// step goes from whatever there is to the end.
func (j *joining) step(ctx context.Context) error {
	done, err := j.length(ctx, j.target)
	if err != nil {
		return err
	}
	if done >= 0 {
		if done != j.total {
			return lengthError("target", j.target, done, j.total)
		}
		return j.clean(ctx)
	}
	if err := j.gather(ctx); err != nil {
		return err
	}
	return j.clean(ctx)
}

// gather makes target, which is not there.
func (j *joining) gather(ctx context.Context) error {
	first := j.filled[0]
	have, err := j.length(ctx, first.Path)
	if err != nil {
		return err
	}
	if have == j.total && len(j.filled) > 1 {
		return j.rename(ctx, first.Path) // an earlier run has concatenated
	}
	if err := j.check(ctx); err != nil {
		return err
	}
	if len(j.filled) == 1 {
		return j.rename(ctx, first.Path)
	}
	var rest []string
	for _, p := range j.filled[1:] {
		rest = append(rest, p.Path)
	}
	err = j.fs.Concat(ctx, first.Path, rest)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return j.copy(ctx)
	case err != nil:
		return err
	}
	have, err = j.length(ctx, first.Path)
	if err == nil && have != j.total {
		err = lengthError("concatenated piece", first.Path, have, j.total)
	}
	if err != nil {
		return err
	}
	return j.rename(ctx, first.Path)
}

// check compares the pieces with what is recorded of them.
func (j *joining) check(ctx context.Context) error {
	for _, p := range j.filled {
		have, err := j.length(ctx, p.Path)
		if err != nil {
			return err
		}
		if have != p.Length {
			return lengthError("piece", p.Path, have, p.Length)
		}
	}
	return nil
}

// rename gives the whole file its name, in a directory that may be missing.
func (j *joining) rename(ctx context.Context, from string) error {
	err := j.fs.Rename(ctx, from, j.target)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := j.fs.MkdirAll(ctx, path.Dir(j.target)); err != nil {
		return err
	}
	return j.fs.Rename(ctx, from, j.target)
}

// copy writes the pieces into the temporary file, after removing what an
// interrupted run has left of it.
func (j *joining) copy(ctx context.Context) (err error) {
	if err := j.fs.Remove(ctx, j.temp, false); err != nil {
		return err
	}
	w, err := j.fs.Create(ctx, j.temp, CreateOptions{})
	if err != nil {
		return err
	}
	for _, p := range j.filled {
		if err := appendPiece(ctx, j.fs, w, p); err != nil {
			return errors.Join(err, w.Abort())
		}
	}
	if err := w.Close(); err != nil {
		return errors.Join(err, w.Abort())
	}
	have, err := j.length(ctx, j.temp)
	if err == nil && have != j.total {
		err = lengthError("copy", j.temp, have, j.total)
	}
	if err == nil {
		err = j.rename(ctx, j.temp)
	}
	if err != nil {
		return errors.Join(err, j.fs.Remove(ctx, j.temp, false))
	}
	return nil
}

func appendPiece(ctx context.Context, fsys FS, w io.Writer, p Piece) error {
	f, err := fsys.Open(ctx, p.Path)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	if err == nil && n != p.Length {
		err = lengthError("piece", p.Path, n, p.Length)
	}
	return err
}

// clean removes what target has made superfluous.
func (j *joining) clean(ctx context.Context) error {
	var errs []error
	for _, p := range slices.Backward(j.pieces) {
		if p.Path != j.target {
			errs = append(errs, j.fs.Remove(ctx, p.Path, false))
		}
	}
	return errors.Join(append(errs, j.fs.Remove(ctx, j.temp, false))...)
}
