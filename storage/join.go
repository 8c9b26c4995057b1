package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"time"
)

// Piece is a closed file of a task's output, as recorded when the task finished.
type Piece struct {
	Path   string
	Length int64 // bytes
}

// joinTries bounds how often Join starts over although the files do not change. The pauses
// between the tries begin at joinPause and double.
const (
	joinTries = 5
	joinPause = 10 * time.Millisecond
)

// Join concatenates the pieces, in order, into the file target and removes them. There must
// be at least one piece, and all pieces must be on one device.
//
// Join may be interrupted at any point and run again with the same arguments, and two
// processes may run it at the same time: each run inspects which files exist and continues
// from there. Target never exists partially, because every way to create it ends in a single
// rename:
//
//	one piece      rename
//	concat         append all to the first piece, rename that
//	copy           into a temporary file beside the first piece, check its length, rename
//
// The name of the temporary file contains unique, so no other process may use the same
// value. If a piece is missing or its length differs from the recorded length, the error
// names the piece and Join removes nothing.
func Join(ctx context.Context, fsys FS, target string, pieces []Piece, unique string) error {
	if len(pieces) == 0 {
		return fmt.Errorf("join into %s: no pieces", target)
	}
	j := joining{fs: fsys, target: target, pieces: pieces}
	j.temp = path.Join(path.Dir(pieces[0].Path), "."+path.Base(pieces[0].Path)+"."+unique)
	for _, p := range pieces {
		j.total += p.Length
		if p.Length > 0 {
			j.filled = append(j.filled, p)
		}
	}
	if len(j.filled) == 0 {
		j.filled = pieces[:1]
	}
	if err := j.run(ctx); err != nil {
		return fmt.Errorf("join into %s: %w", Name(fsys, target), err)
	}
	return nil
}

// run repeats step while another process may be joining the same pieces. It gives up when the
// first piece has kept its length for joinTries.
func (j *joining) run(ctx context.Context) error {
	for try, last := 1, int64(-1); ; try++ {
		err := j.step(ctx)
		if !mayBeProgress(err) {
			return err
		}
		if j.have != last {
			try, last = 1, j.have
		}
		if try == joinTries {
			return err
		}
		timer := time.NewTimer(joinPause << try)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// errOtherLength marks a file whose length differs from the expected length.
var errOtherLength = errors.New("other length")

// mayBeProgress reports whether an error may be caused by another process that joins the
// same pieces and creates, removes or extends files concurrently. Another try shows whether
// this is the cause.
func mayBeProgress(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) || errors.Is(err, errOtherLength)
}

// lengthError returns the error for a file that is missing, or longer or shorter than
// expected. It marks the error for mayBeProgress.
func lengthError(what, name string, have, want int64) error {
	if have < 0 {
		return fmt.Errorf("%s %s is gone%w", what, name, silent{fs.ErrNotExist})
	}
	return fmt.Errorf("%s %s holds %d bytes where %d are recorded%w", what, name, have, want, silent{errOtherLength})
}

// joining is one run of Join.
//
//	        target exists?  ──yes, right length──> clean
//	             │ no
//	first piece has all bytes?  ──yes──> rename ──> clean
//	             │ no
//	concat, or copy into temp  ──> check the length ──> rename ──> clean
//
// A file system may concatenate in several calls. If a run is interrupted between two of them,
// the first piece has the bytes of the first n pieces, and the others of these are gone. No two
// values of n give the same length, so the length of the first piece shows where to continue.
type joining struct {
	fs     FS
	target string
	temp   string
	pieces []Piece
	filled []Piece // pieces that are not empty; only the first piece if all are empty
	total  int64   // number of bytes of all pieces
	have   int64   // length of the first piece when it was last inspected; -1 if it is missing
}

// length returns the size of a file, or -1 if it does not exist.
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

// step completes the join from the current state of the files.
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

// gather creates target, which does not exist.
func (j *joining) gather(ctx context.Context) (err error) {
	first := j.filled[0]
	if j.have, err = j.length(ctx, first.Path); err != nil {
		return err
	}
	rest, err := j.rest()
	if err == nil {
		err = j.check(ctx, rest)
	}
	if err != nil {
		return err
	}
	if len(rest) == 0 {
		return j.rename(ctx, first.Path)
	}
	paths := make([]string, len(rest))
	for i, p := range rest {
		paths[i] = p.Path
	}
	err = j.fs.Concat(ctx, first.Path, paths)
	switch {
	case errors.Is(err, errors.ErrUnsupported):
		return j.copy(ctx, append([]Piece{{Path: first.Path, Length: j.have}}, rest...))
	case err != nil:
		return err
	}
	if j.have, err = j.length(ctx, first.Path); err == nil && j.have != j.total {
		err = lengthError("concatenated piece", first.Path, j.have, j.total)
	}
	if err != nil {
		return err
	}
	return j.rename(ctx, first.Path)
}

// rest returns the pieces whose bytes are not in the first piece yet.
func (j *joining) rest() ([]Piece, error) {
	joined := int64(0)
	for n, p := range j.filled {
		if joined += p.Length; joined == j.have {
			return j.filled[n+1:], nil
		}
	}
	return nil, lengthError("piece", j.filled[0].Path, j.have, j.filled[0].Length)
}

// check compares the lengths of pieces with the recorded lengths.
func (j *joining) check(ctx context.Context, pieces []Piece) error {
	for _, p := range pieces {
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

// rename moves the complete file to target and creates the parent directory if necessary. It
// creates no directory if the file itself is missing, because then the job may be over.
func (j *joining) rename(ctx context.Context, from string) error {
	err := j.fs.Rename(ctx, from, j.target)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, statErr := j.fs.Stat(ctx, from); statErr != nil {
		return err
	}
	if err := j.fs.MkdirAll(ctx, path.Dir(j.target)); err != nil {
		return err
	}
	return j.fs.Rename(ctx, from, j.target)
}

// copy writes the pieces into the temporary file. It first removes the file that an
// interrupted run may have left.
func (j *joining) copy(ctx context.Context, pieces []Piece) (err error) {
	if err := j.fs.Remove(ctx, j.temp, false); err != nil {
		return err
	}
	w, err := j.fs.Create(ctx, j.temp, CreateOptions{NoParents: true})
	if err != nil {
		return err
	}
	if err := Finish(w, j.appendPieces(ctx, w, pieces)); err != nil {
		return err
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

// appendPieces copies pieces to w.
func (j *joining) appendPieces(ctx context.Context, w io.Writer, pieces []Piece) error {
	for _, p := range pieces {
		if err := appendPiece(ctx, j.fs, w, p); err != nil {
			return err
		}
	}
	return nil
}

// appendPiece copies a piece to the end of w. The two structs hide ReadFrom and WriteTo, whose
// buffers may be smaller.
func appendPiece(ctx context.Context, fsys FS, w io.Writer, p Piece) error {
	f, err := fsys.Open(ctx, p.Path)
	if err != nil {
		return err
	}
	defer f.Close() // opened for reading only
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{f}, make([]byte, 1<<20))
	if err == nil && n != p.Length {
		err = lengthError("piece", p.Path, n, p.Length)
	}
	return err
}

// clean removes the pieces once target exists.
func (j *joining) clean(ctx context.Context) error {
	var errs []error
	for _, p := range slices.Backward(j.pieces) {
		if p.Path != j.target {
			errs = append(errs, j.fs.Remove(ctx, p.Path, false))
		}
	}
	return errors.Join(append(errs, j.fs.Remove(ctx, j.temp, false))...)
}

// WriteFile creates a file and calls write to fill it. After an error the file is removed.
func WriteFile(ctx context.Context, fsys FS, name string, opts CreateOptions, write func(io.Writer) error) error {
	w, err := fsys.Create(ctx, name, opts)
	if err != nil {
		return err
	}
	return Finish(w, write(w))
}

// Finish ends a file. err is the result of writing it. If err is nil, Finish closes w. If
// err is not nil or w cannot be closed, Finish aborts w. It returns all errors.
func Finish(w Writer, err error) error {
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return nil
}
