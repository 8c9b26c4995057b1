package input

import (
	"io"
	"sync"
)

// aheadBuffers is the number of finished reads that may wait.
const aheadBuffers = 4

// aheadReader reads r in a goroutine. The goroutine owns r and the buffers in free. It ends
// at the first error of r or when stop is closed. Close waits for it.
type aheadReader struct {
	free chan []byte
	full chan chunk
	stop chan struct{}
	done sync.WaitGroup

	current chunk  // chunk being read
	unread  []byte // unread part of current
}

// chunk is the result of one read.
type chunk struct {
	data []byte
	err  error // error that follows data
}

// readAhead returns a reader of r that reads up to size bytes in advance, in a goroutine.
func readAhead(r io.Reader, size int) *aheadReader {
	a := &aheadReader{
		free: make(chan []byte, aheadBuffers),
		full: make(chan chunk, aheadBuffers),
		stop: make(chan struct{}),
	}
	for range aheadBuffers {
		a.free <- make([]byte, max(1, size/aheadBuffers))
	}
	a.done.Go(func() { a.fill(r) })
	return a
}

// fill is the body of the goroutine.
//
//	free ──empty buffers──> fill ──full──> Read ──> free
func (a *aheadReader) fill(r io.Reader) {
	for {
		select {
		case <-a.stop:
			return
		case b := <-a.free:
			n, err := r.Read(b[:cap(b)])
			a.full <- chunk{b[:n], err} // never blocks: the channel has capacity for every buffer
			if err != nil {
				return
			}
		}
	}
}

// Read implements io.Reader. It returns an error after the bytes that precede the error, and
// again at each later call.
func (a *aheadReader) Read(p []byte) (int, error) {
	for len(a.unread) == 0 {
		if a.current.err != nil {
			return 0, a.current.err
		}
		if a.current.data != nil {
			a.free <- a.current.data
		}
		a.current = <-a.full
		a.unread = a.current.data
	}
	n := copy(p, a.unread)
	a.unread = a.unread[n:]
	return n, nil
}

// Close stops reading ahead. It waits for a read in progress.
func (a *aheadReader) Close() error {
	close(a.stop)
	a.done.Wait()
	return nil
}
