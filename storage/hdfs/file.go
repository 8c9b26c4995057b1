package hdfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/hammr/hammr/storage"
)

// idleStreams is the number of idle streams that a file keeps for later calls of ReadAt.
const idleStreams = 4

// file is an open file. A read-ahead goroutine serves sequential reads. Each ReadAt uses a
// stream of its own; a few idle streams are kept for reuse.
type file struct {
	fs     *FS
	id     fileID
	ctx    context.Context
	cancel context.CancelFunc
	offset int64 // offset of the next sequential byte
	ahead  *readAhead

	mu struct {
		sync.Mutex
		closed bool
		idle   []*stream
	}
}

// Open implements storage.FS. It connects at once, so a file that is missing or cannot be
// read is an error of Open. The size is fixed here: the file does not include bytes that
// another client appends later.
func (f *FS) Open(ctx context.Context, path string) (storage.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, f.explain("open", path, err)
	}
	ctx, cancel := context.WithCancel(ctx)
	st, err := f.openStream(ctx, clean(path))
	if err != nil {
		cancel()
		return nil, err
	}
	file := &file{fs: f, ctx: ctx, id: st.fileID, cancel: cancel}
	file.give(st)
	return file, nil
}

// Read implements io.Reader. The first call starts the read-ahead.
func (f *file) Read(p []byte) (int, error) {
	if f.isClosed() {
		return 0, f.errClosed()
	}
	if len(p) == 0 {
		return 0, nil
	}
	if f.offset >= f.id.size {
		return 0, io.EOF
	}
	if f.ahead == nil {
		st := f.take(f.offset)
		st.seek(f.offset)
		f.ahead = startReadAhead(st)
	}
	n, err := f.ahead.Read(p)
	f.offset += int64(n)
	return n, err
}

// Seek implements io.Seeker. It ends the read-ahead, unless the offset stays the same.
func (f *file) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.id.size
	default:
		return 0, fmt.Errorf("hdfs: seek in %s: impossible whence %d", f.name(), whence)
	}
	if offset < 0 {
		return 0, fmt.Errorf("hdfs: seek in %s: negative offset %d", f.name(), offset)
	}
	if offset != f.offset && f.ahead != nil {
		f.ahead.stop()
		f.ahead = nil
	}
	f.offset = offset
	return offset, nil
}

// ReadAt implements io.ReaderAt. Concurrent calls use a stream each.
func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if f.isClosed() {
		return 0, f.errClosed()
	}
	if offset < 0 {
		return 0, fmt.Errorf("hdfs: read of %s: negative offset %d", f.name(), offset)
	}
	if offset >= f.id.size {
		return 0, io.EOF
	}
	if f.fs.isClosed() {
		return 0, fmt.Errorf("hdfs: read %s: %w", f.name(), errClosed)
	}
	st := f.take(offset)
	st.seek(offset)
	n, err := io.ReadFull(st, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	f.give(st)
	return n, err
}

// take returns an idle stream, preferably the stream at offset, which continues without a
// new connection to a DataNode. If no stream is idle, take makes a stream that connects at
// its first read.
func (f *file) take(offset int64) *stream {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := len(f.mu.idle) - 1
	if last < 0 {
		return &stream{fs: f.fs, ctx: f.ctx, fileID: f.id}
	}
	for i, st := range f.mu.idle {
		if st.offset == offset {
			f.mu.idle[i], f.mu.idle[last] = f.mu.idle[last], st
		}
	}
	st := f.mu.idle[last]
	f.mu.idle = f.mu.idle[:last]
	return st
}

// give keeps a stream for later calls, or closes it if there are enough. Its connection stays
// open, which saves the next call a round trip to the NameNode.
func (f *file) give(st *stream) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.mu.closed || len(f.mu.idle) == idleStreams {
		st.drop()
		return
	}
	f.mu.idle = append(f.mu.idle, st)
}

// Close implements io.Closer. It ends the retries of reads in progress; a second call has no
// effect.
func (f *file) Close() error {
	f.mu.Lock()
	closed := f.mu.closed
	f.mu.closed = true
	idle := f.mu.idle
	f.mu.idle = nil
	f.mu.Unlock()
	if closed {
		return nil
	}
	f.cancel()
	for _, st := range idle {
		st.drop()
	}
	if f.ahead != nil {
		f.ahead.stop()
	}
	return nil
}

// isClosed reports whether Close was called.
func (f *file) isClosed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mu.closed
}

// name returns the full name of the file, for errors.
func (f *file) name() string { return f.fs.URI() + f.id.path }

// errClosed returns the error of a call after Close.
func (f *file) errClosed() error {
	return fmt.Errorf("hdfs: read of %s: %w", f.name(), fs.ErrClosed)
}
