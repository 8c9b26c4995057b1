package hdfs

import (
	"fmt"
	"io"
	"sync"
)

// The sizes of the first read and of the largest one.
const (
	firstChunk = 64 << 10
	chunkSize  = 1 << 20
)

var chunkPool = sync.Pool{New: func() any { return new([chunkSize]byte) }}

// chunk is the result of one read: bytes, or an error after the bytes.
type chunk struct {
	buffer *[chunkSize]byte
	data   []byte // within buffer
	err    error
}

// readAhead reads a stream in a goroutine, which owns the stream, so that network waits overlap
// with the work of the reader. Reads start small, for a reader that wants only the head of a
// file, and grow.
//
//	stream ──run──> chunks (ReadAhead bytes) ──Read──> caller
//	   ▲                                         │
//	   └──────────── buffers, by chunkPool ──────┘
type readAhead struct {
	name    string // name of the file
	chunks  chan chunk
	quit    chan struct{}
	current chunk
	rest    []byte // unread part of current.data
}

// startReadAhead starts the goroutine, which owns the stream from then on. If the file system
// is closed, it starts none, and Read returns errClosed.
func startReadAhead(st *stream) *readAhead {
	depth := max(1, st.fs.cfg.ReadAhead/chunkSize-1)
	r := &readAhead{name: st.name(), chunks: make(chan chunk, depth), quit: make(chan struct{})}
	if !st.fs.ahead.Go(func() { r.run(st) }) {
		st.drop()
		close(r.chunks)
	}
	return r
}

// run reads chunks until the end of the file, an error, or stop. It quadruples the size of its
// reads up to chunkSize.
func (r *readAhead) run(st *stream) {
	defer close(r.chunks)
	defer st.drop()
	for size := firstChunk; ; size = min(size*4, chunkSize) {
		c := chunk{buffer: chunkPool.Get().(*[chunkSize]byte)}
		n, err := io.ReadFull(st, c.buffer[:size])
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		c.data, c.err = c.buffer[:n], err
		select {
		case r.chunks <- c:
		case <-r.quit:
			return
		case <-st.fs.quit:
			return
		}
		if err != nil {
			return
		}
	}
}

// Read returns at least one byte or an error; an error is permanent. After the file system
// is closed the error is errClosed, never io.EOF.
func (r *readAhead) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		if r.current.err != nil {
			return 0, r.current.err
		}
		r.recycle()
		next, open := <-r.chunks
		if !open {
			next.err = fmt.Errorf("hdfs: read %s: %w", r.name, errClosed)
		}
		r.current, r.rest = next, next.data
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// recycle returns the buffer of the current chunk to the pool.
func (r *readAhead) recycle() {
	if r.current.buffer != nil {
		chunkPool.Put(r.current.buffer)
		r.current = chunk{}
	}
}

// stop ends the goroutine after its current read. It does not wait, because this read may be
// waiting for a DataNode; FS.Close waits. Remaining chunks are dropped.
func (r *readAhead) stop() { close(r.quit) }
