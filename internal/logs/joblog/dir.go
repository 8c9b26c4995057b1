package joblog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/hammr/hammr/storage"
)

// Dir is the directory of the logs of one job:
//
//	DIR/MACHINE.logs       the logs of a machine
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

// Read reads a log of an attempt that ran on a machine. If the directory does not have it, the
// error wraps fs.ErrNotExist.
func (d *Dir) Read(ctx context.Context, machine, attempt, stream string) (text []byte, err error) {
	err = d.use(ctx, machine, attempt, stream, func(x *Index, f io.ReaderAt) (err error) {
		text, err = x.Read(f, attempt, stream)
		return err
	})
	return text, err
}

// ReadPart reads a part of a log, like Read. size is how many bytes the log has.
func (d *Dir) ReadPart(ctx context.Context, machine, attempt, stream string, place Place) (text []byte, offset, size int64, err error) {
	err = d.use(ctx, machine, attempt, stream, func(x *Index, f io.ReaderAt) (err error) {
		text, offset, size, err = x.ReadPart(f, attempt, stream, place)
		return err
	})
	return text, offset, size, err
}

// use calls a function with the index of a machine's file that has a log, and with the file.
func (d *Dir) use(ctx context.Context, machine, attempt, stream string, read func(*Index, io.ReaderAt) error) error {
	e, has := d.entries[FileName(machine)]
	index := d.indexes[e.Path]
	if index != nil {
		_, has = index.logs[key{attempt, stream}]
	}
	if !has {
		return fmt.Errorf("%s of %s: %w", stream, attempt, fs.ErrNotExist)
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
