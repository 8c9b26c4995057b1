package mem

import (
	"bytes"
	"io/fs"
	"sync/atomic"
)

// file reads the content that a file had when it was opened. The content stays readable even
// if the file is removed. ReadAt may be called concurrently, so closed is atomic.
type file struct {
	*bytes.Reader
	name   string
	closed atomic.Bool
}

// newFile returns a reader of the bytes, which nothing changes later.
func newFile(name string, data []byte) *file {
	return &file{Reader: bytes.NewReader(data), name: name}
}

// Read implements io.Reader. It fails after Close, as os.File does.
func (f *file) Read(p []byte) (int, error) {
	if f.closed.Load() {
		return 0, pathError("read", f.name, fs.ErrClosed)
	}
	return f.Reader.Read(p)
}

// ReadAt implements io.ReaderAt.
func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if f.closed.Load() {
		return 0, pathError("read", f.name, fs.ErrClosed)
	}
	return f.Reader.ReadAt(p, offset)
}

// Close implements storage.File. A second Close is an error, as for os.File, so that tests
// detect it.
func (f *file) Close() error {
	if f.closed.Swap(true) {
		return pathError("close", f.name, fs.ErrClosed)
	}
	return nil
}

// writer collects the content of a new file. It is used by one goroutine. The file exists from
// Create on, which reserves its name.
// It takes the lock of the FS only in Close and Abort, so writers do not slow each other.
type writer struct {
	fs     *FS
	name   string
	node   *node // the file that Create has made; shows whether the name still belongs to this file
	data   []byte
	closed bool
	whole  bool // Close has published the content
}

// Write implements io.Writer. Only the writer has the bytes until Close, so no reader sees a
// part of them.
func (w *writer) Write(p []byte) (int, error) {
	if w.closed {
		return 0, pathError("write", w.name, fs.ErrClosed)
	}
	w.data = append(w.data, p...)
	return len(p), nil
}

// Close publishes the content, all at once. It fails if the file was removed or renamed in the
// meantime, as HDFS does when the lease is lost.
func (w *writer) Close() error {
	if w.closed {
		return pathError("close", w.name, fs.ErrClosed)
	}
	w.closed = true
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	if w.fs.findLocked(w.name) != w.node {
		return pathError("close", w.name, fs.ErrNotExist)
	}
	w.node.data, w.node.modTime = w.data, w.fs.opts.Now()
	w.whole = true
	return nil
}

// Abort implements storage.Writer. It removes the name only if the name still belongs to
// this file: another writer may have created a file of this name after a Remove.
func (w *writer) Abort() error {
	if w.whole {
		return nil
	}
	w.closed, w.data = true, nil
	w.fs.mu.Lock()
	defer w.fs.mu.Unlock()
	if w.fs.findLocked(w.name) == w.node {
		w.fs.unlinkLocked(w.name)
	}
	return nil
}
