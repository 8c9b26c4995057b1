package joblog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/hammr/hammr/storage"
)

// Dir is the directory of the logs of one job:
//
//	DIR/MACHINE.logs       the logs of a machine
//	DIR/ATTEMPT/STREAM     a log, in the layout of older versions
//
// It lists the directory once, so that an attempt without logs costs no request. Each log
// that is read costs one request to open its file. A Dir is for one goroutine.
type Dir struct {
	fsys    storage.FS
	path    string
	entries map[string]storage.FileInfo // by name
	indexes map[string]*Index           // of the files that were read, by name
}

// OpenDir lists a directory. A missing directory is empty.
func OpenDir(ctx context.Context, fsys storage.FS, dir string) (*Dir, error) {
	d := &Dir{fsys: fsys, path: dir, indexes: make(map[string]*Index)}
	return d, d.Refresh(ctx)
}

// Undated returns the directory that masters of older versions gave a job whose directory is dir,
// "" if there is none: their directories are not in the directory of a day.
func Undated(dir string) string {
	day, job := path.Split(dir)
	root, name := path.Split(strings.TrimSuffix(day, "/"))
	if _, err := time.Parse(time.DateOnly, name); err != nil {
		return ""
	}
	return root + job
}

// Refresh lists the directory again.
func (d *Dir) Refresh(ctx context.Context) error {
	list, err := d.fsys.List(ctx, d.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	d.entries = make(map[string]storage.FileInfo, len(list))
	for _, e := range list {
		d.entries[path.Base(e.Path)] = e
	}
	return nil
}

// HasMachine reports whether the logs of a machine are in the directory.
func (d *Dir) HasMachine(machine string) bool {
	_, has := d.entries[FileName(machine)]
	return has
}

// HasAttempt reports whether an attempt has a directory, as in the layout of older versions.
func (d *Dir) HasAttempt(attempt string) bool { return d.entries[attempt].IsDir }

// Read reads a log of an attempt that ran on a machine. If the directory does not have it, the
// error wraps fs.ErrNotExist.
func (d *Dir) Read(ctx context.Context, machine, attempt, stream string) ([]byte, error) {
	if e, has := d.entries[FileName(machine)]; has {
		text, err := d.readFrom(ctx, e, attempt, stream)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return text, err
		}
	}
	if d.HasAttempt(attempt) {
		return d.readFile(ctx, path.Join(d.entries[attempt].Path, stream))
	}
	return nil, fmt.Errorf("%s of %s: %w", stream, attempt, fs.ErrNotExist)
}

// ReadPart reads a part of a log, like Read. size is how many bytes the log has.
func (d *Dir) ReadPart(ctx context.Context, machine, attempt, stream string, place Place) (text []byte, offset, size int64, err error) {
	if e, has := d.entries[FileName(machine)]; has {
		err = d.use(ctx, e, attempt, stream, func(x *Index, f io.ReaderAt) (err error) {
			text, offset, size, err = x.ReadPart(f, attempt, stream, place)
			return err
		})
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return text, offset, size, err
		}
	}
	if !d.HasAttempt(attempt) {
		return nil, 0, 0, fmt.Errorf("%s of %s: %w", stream, attempt, fs.ErrNotExist)
	}
	f, err := d.fsys.Open(ctx, path.Join(d.entries[attempt].Path, stream))
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close() // only read
	if size, err = f.Seek(0, io.SeekEnd); err != nil {
		return nil, 0, 0, err
	}
	offset, length := place(size)
	text = make([]byte, length)
	return text, offset, size, readFull(f, text, offset)
}

// readFrom reads a log from the file of a machine.
func (d *Dir) readFrom(ctx context.Context, e storage.FileInfo, attempt, stream string) (text []byte, err error) {
	err = d.use(ctx, e, attempt, stream, func(x *Index, f io.ReaderAt) (err error) {
		text, err = x.Read(f, attempt, stream)
		return err
	})
	return text, err
}

// use calls a function with the index of a machine's file that has a log, and with the file.
func (d *Dir) use(ctx context.Context, e storage.FileInfo, attempt, stream string, read func(*Index, io.ReaderAt) error) error {
	index := d.indexes[e.Path]
	if index != nil {
		if _, has := index.logs[key{attempt, stream}]; !has {
			return fs.ErrNotExist
		}
	}
	f, err := d.fsys.Open(ctx, e.Path)
	if err != nil {
		return err
	}
	defer f.Close() // only read
	if index == nil {
		if index, err = ReadIndex(f, e.Size); err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
		d.indexes[e.Path] = index
	}
	err = read(index, f)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", e.Path, err)
	}
	return err
}

// readFile reads a whole file.
func (d *Dir) readFile(ctx context.Context, name string) ([]byte, error) {
	f, err := d.fsys.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	return io.ReadAll(f)
}
