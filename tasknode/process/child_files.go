package process

import (
	"cmp"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// Descriptors in the child. They follow the standard descriptors.
const (
	controlFD = 3 // control socket of its first task
	nextFD    = 4 // descriptor on which it receives further tasks, if it may run several
)

// childFiles are the child's ends of its connections to the daemon.
type childFiles struct {
	null, stdout, stderr, control *os.File
	next                          *os.File // nil if the child runs only one task
}

// files returns the files in the order of descriptors. The first is nil if the child is
// already running.
func (w *childFiles) files() []*os.File {
	all := []*os.File{w.null, w.stdout, w.stderr, w.control}
	if w.next != nil {
		all = append(all, w.next)
	}
	return all
}

// close closes the child's ends. It is called after the child has inherited them, or when no
// child will. It does nothing if w is nil.
func (w *childFiles) close() {
	if w == nil {
		return
	}
	for _, f := range w.files() {
		f.Close() // f may be nil, and the error does not matter
	}
}

// connect makes the task's connections to a child, and begins to read the task's output.
//
// The pipes and the socket belong to the task, not to the process. Each further task of a
// process gets new ones, so that no data of one attempt reaches another.
func (t *task) connect() (w *childFiles, err error) {
	w = new(childFiles)
	defer func() {
		if err != nil {
			w.close()
			t.disconnect()
		}
	}()
	if w.null, err = os.Open(os.DevNull); err != nil {
		return nil, err
	}
	for _, s := range []struct {
		stream *stream
		theirs **os.File
	}{{&t.stdout, &w.stdout}, {&t.stderr, &w.stderr}} {
		var pipe *os.File
		if pipe, *s.theirs, err = os.Pipe(); err != nil {
			return nil, err
		}
		s.stream.pipe = pipe
		t.readers.Go(func() { s.stream.copy(pipe) })
	}
	var conn net.Conn
	if conn, w.control, err = taskproc.SocketPair(); err != nil {
		return nil, err
	}
	t.conn = newControl(conn, t.kill)
	return w, nil
}

// disconnect undoes connect. The child's ends must already be closed.
func (t *task) disconnect() {
	for _, s := range []*stream{&t.stdout, &t.stderr} {
		if s.pipe != nil {
			s.pipe.Close() // ends the goroutine that reads it
			s.pipe = nil
		}
	}
	t.readers.Wait()
	if t.conn != nil {
		t.conn.Conn.Close()
	}
}

// control is the daemon's end of a control socket.
type control struct {
	net.Conn
	received atomic.Bool   // the task has sent data
	ended    chan struct{} // closed after a Read has failed, when no more data arrives
	end      sync.Once     // guards closing ended
	closed   func()
}

// Read implements io.Reader. It records that data has arrived. If a program sends no data,
// it has not called mr.Main, and the error says so.
func (c *control) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.received.Store(true)
	}
	if err != nil {
		c.end.Do(func() { close(c.ended) })
	}
	return n, err
}

// hasReceived reports whether the task has sent data. The process has exited, so the reader
// reaches the end of the data. If that takes longer than the deadline, the result covers
// only the data that was read by then.
func (c *control) hasReceived(deadline time.Time) bool {
	if !c.received.Load() {
		late := time.NewTimer(time.Until(deadline))
		defer late.Stop()
		select {
		case <-c.ended:
		case <-late.C:
		}
	}
	return c.received.Load()
}

// Close closes the socket. It kills the task if the task still runs.
func (c *control) Close() error {
	err := c.Conn.Close()
	c.closed()
	return err
}

// stream copies one of a task's outputs to a log.
type stream struct {
	pipe     *os.File // the daemon's end; nil before connect
	log      *logFile
	complete bool       // the complete output has arrived; valid after copy has returned
	moving   sync.Mutex // locked while bytes move from the pipe to the log, and while the launcher is paused
}

// copyBuffers holds buffers for stream.copy.
var copyBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// copy reads the output to its end, even if the log cannot be written.
func (s *stream) copy(pipe *os.File) {
	buf := copyBuffers.Get().(*[64 << 10]byte)
	defer copyBuffers.Put(buf)
	raw, err := pipe.SyscallConn()
	for err == nil {
		err = s.move(raw, buf[:])
	}
	s.complete = err == io.EOF
}

// move waits for bytes in the pipe and moves them to the log. The error is io.EOF at the end of
// the output.
func (s *stream) move(raw syscall.RawConn, buf []byte) (err error) {
	closed := raw.Read(func(fd uintptr) (done bool) {
		s.moving.Lock()
		defer s.moving.Unlock()
		n, readErr := syscall.Read(int(fd), buf)
		switch {
		case readErr == syscall.EAGAIN || readErr == syscall.EINTR:
			return readErr == syscall.EINTR // then move is called again
		case readErr != nil:
			err = readErr
		case n == 0:
			err = io.EOF
		default:
			_, _ = s.log.Write(buf[:n]) // Write never fails
		}
		return true
	})
	return cmp.Or(err, closed)
}

// close closes the pipe and the log, and returns the first error of the log.
func (s *stream) close() error {
	if s.pipe != nil {
		s.pipe.Close()
	}
	if s.log == nil {
		return nil
	}
	return s.log.Close()
}
