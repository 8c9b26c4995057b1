package joblog

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/hammr/hammr/storage"
)

// Dir is the directory of the logs of one job:
//
//	DIR/MACHINE.logs       the logs of a machine
//
// It lists the directory once, so that an attempt without logs costs no request. Each log
// that is read costs one request to open its file. Any goroutine may use a Dir.
type Dir struct {
	fsys    storage.FS
	entries map[string]storage.FileInfo // by name

	mu struct {
		sync.Mutex
		indexes map[string]*Index // of the files that were read, by path
	}
}

// ErrNotPrinted is the error for a log of a machine whose file is in the directory and does not have it. The
// file has all logs of the machine, so the log is nowhere else. The error wraps fs.ErrNotExist.
var ErrNotPrinted = fmt.Errorf("nothing was printed: %w", fs.ErrNotExist)

// OpenDir lists a directory. A missing directory is empty.
func OpenDir(ctx context.Context, fsys storage.FS, dir string) (*Dir, error) {
	d := &Dir{fsys: fsys, entries: make(map[string]storage.FileInfo)}
	d.mu.indexes = make(map[string]*Index)
	list, err := fsys.List(ctx, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range list {
		d.entries[path.Base(e.Path)] = e
	}
	return d, nil
}

// Read reads a log of an attempt that ran on a machine, and checks it. If the directory does not have it, the error
// wraps fs.ErrNotExist.
func (d *Dir) Read(ctx context.Context, machine, attempt, stream string) (text []byte, err error) {
	text, _, _, err = d.ReadPart(ctx, machine, attempt, stream, whole)
	return text, err
}

// ReadPart reads a part of a log, like Read. size is how many bytes the log has.
func (d *Dir) ReadPart(ctx context.Context, machine, attempt, stream string, place Place) (text []byte, offset, size int64, err error) {
	e, has := d.entries[FileName(machine)]
	if !has {
		return nil, 0, 0, fmt.Errorf("%s of %s: %w", stream, attempt, fs.ErrNotExist)
	}
	d.mu.Lock()
	index := d.mu.indexes[e.Path]
	d.mu.Unlock()
	if index != nil {
		if _, has = index.logs[key{attempt, stream}]; !has {
			return nil, 0, 0, fmt.Errorf("%s of %s: %w", stream, attempt, ErrNotPrinted)
		}
	}
	f, err := d.fsys.Open(ctx, e.Path)
	if err != nil {
		return nil, 0, 0, err
	}
	defer f.Close() // only read
	if index == nil {
		if index, err = ReadIndex(f, e.Size); err != nil {
			return nil, 0, 0, fmt.Errorf("%s: %w", e.Path, err)
		}
		d.mu.Lock()
		d.mu.indexes[e.Path] = index
		d.mu.Unlock()
	}
	text, offset, size, err = index.ReadPart(f, attempt, stream, place)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%s: %w", e.Path, err)
	}
	return text, offset, size, err
}
