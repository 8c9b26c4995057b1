package shuffle

import (
	"fmt"
	"io"
	"sync"

	"github.com/hammr/hammr/storage"
)

// readBufferSize is enough for a block of ordinary size and the next header.
const readBufferSize = blockRaw + 4<<10

// readBuffers is a pool of buffers of readBufferSize. A merge has one for each run that it
// reads, and a second one if the run is compressed.
var readBuffers = sync.Pool{New: func() any {
	b := make([]byte, readBufferSize)
	return &b
}}

// growPooled returns a buffer of at least n bytes: b itself, one from the pool, or a new one
// with an eighth to spare. The content of b is lost. b, which may be nil, belongs to the
// callee: a smaller one returns to the pool.
func growPooled(b *[]byte, n int) *[]byte {
	if b != nil && len(*b) >= n {
		return b
	}
	putPooled(b)
	if n <= readBufferSize {
		return readBuffers.Get().(*[]byte)
	}
	larger := make([]byte, n+n/8)
	return &larger
}

// putPooled returns a buffer to the pool. Buffers of other sizes are left to the garbage
// collector.
func putPooled(b *[]byte) {
	if b != nil && len(*b) == readBufferSize {
		readBuffers.Put(b)
	}
}

// memoryFile is a file in memory. Readers use views of it (view) instead of copies, so the
// memory must stay until they are closed.
type memoryFile []byte

// ReadAt implements io.ReaderAt.
func (m memoryFile) ReadAt(b []byte, offset int64) (int, error) {
	if offset < 0 || offset >= int64(len(m)) {
		return 0, io.EOF
	}
	n := copy(b, m[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// view returns n bytes of the file without copying them.
func (m memoryFile) view(offset int64, n int) ([]byte, error) {
	if offset < 0 || offset > int64(len(m)) || int64(n) > int64(len(m))-offset {
		return nil, fmt.Errorf("%w: segment of %d bytes ends before offset %d", storage.ErrCorrupt, len(m), offset+int64(n))
	}
	return m[offset : offset+int64(n) : offset+int64(n)], nil
}
