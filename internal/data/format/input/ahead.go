package input

import "sync"

// aheadBuffers is the number of finished reads that may wait.
const aheadBuffers = 4

// aheadReader reads src in a goroutine. The goroutine owns src and the buffers in free. It ends
// at the first error of src or when stop is closed. Close waits for it.
type aheadReader struct {
	src  aheadSource
	size int         // bytes of a buffer
	free chan []byte // nil for a buffer that is not allocated yet
	full chan chunk
	stop chan struct{}
	done sync.WaitGroup

	current chunk  // chunk being read
	unread  []byte // unread part of current
}

// aheadSource is what an aheadReader reads. Its functions run in the goroutine.
type aheadSource struct {
	read     func([]byte) (int, error)
	consumed func() int64 // bytes of the file that read has used; nil if they are not counted
}

// chunk is the result of one read.
type chunk struct {
	data     []byte
	consumed int64 // bytes of the file used up to the end of data
	err      error // error that follows data
}

// readAhead returns a reader of src that reads up to size bytes in advance, in a goroutine.
// Buffers are allocated when they are needed, since many files are short.
func readAhead(src aheadSource, size int) *aheadReader {
	a := &aheadReader{
		src: src, size: max(1, size/aheadBuffers),
		free: make(chan []byte, aheadBuffers),
		full: make(chan chunk, aheadBuffers),
		stop: make(chan struct{}),
	}
	for range aheadBuffers {
		a.free <- nil
	}
	a.done.Go(a.fill)
	return a
}

// fill is the body of the goroutine.
//
//	free ──empty buffers──> fill ──full──> Read ──> free
func (a *aheadReader) fill() {
	for {
		select {
		case <-a.stop:
			return
		case b := <-a.free:
			if b == nil {
				b = make([]byte, a.size)
			}
			n, err := a.src.read(b[:cap(b)])
			c := chunk{data: b[:n], err: err}
			if a.src.consumed != nil {
				c.consumed = a.src.consumed()
			}
			a.full <- c // never blocks: the channel has capacity for every buffer
			if err != nil {
				return
			}
		}
	}
}

// Consumed returns how many bytes of the file the chunks have used whose bytes Read has begun
// to return.
func (a *aheadReader) Consumed() int64 { return a.current.consumed }

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
