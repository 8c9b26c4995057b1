package local

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
)

// bufferSize is the size of the buffer that collects small writes. A write of at least this
// size bypasses it.
const bufferSize = 64 << 10

// writer is a storage.Writer. It is used by one goroutine.
type writer struct {
	file    *os.File
	buf     *bufio.Writer
	durable bool
	closed  bool // the descriptor is gone
	whole   bool // Close has returned nil
}

func newWriter(file *os.File, durable bool) *writer {
	return &writer{file: file, buf: bufio.NewWriterSize(file, bufferSize), durable: durable}
}

func (w *writer) Write(p []byte) (int, error) {
	if w.closed {
		return 0, &fs.PathError{Op: "write", Path: w.file.Name(), Err: fs.ErrClosed}
	}
	return w.buf.Write(p)
}

func (w *writer) Close() error {
	if w.closed {
		return &fs.PathError{Op: "close", Path: w.file.Name(), Err: fs.ErrClosed}
	}
	err := w.buf.Flush()
	if err == nil && w.durable {
		err = w.file.Sync()
	}
	w.closed = true
	err = errors.Join(err, w.file.Close())
	w.whole = err == nil
	return err
}

func (w *writer) Abort() error {
	if w.whole {
		return nil
	}
	if !w.closed {
		// The bytes are discarded, so an error of Close does not matter.
		_ = w.file.Close()
		w.closed = true
	}
	if err := os.Remove(w.file.Name()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
