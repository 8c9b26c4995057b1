package process

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/internal/taskproc"
)

// Descriptors in the child, the first after the standard ones.
const (
	controlFD = 3 // control socket of its first task
	nextFD    = 4 // where it receives its further tasks, if it may run several
)

// childFiles are the child's ends of its connections with the daemon.
type childFiles struct {
	null, stdout, stderr, control *os.File
	handover                      *os.File // nil for a child of one task
}

// files lists the files by descriptor. The first is nil for a child that runs already.
func (w *childFiles) files() []*os.File {
	all := []*os.File{w.null, w.stdout, w.stderr, w.control}
	if w.handover != nil {
		all = append(all, w.handover)
	}
	return all
}

// close closes the child's ends, once the child has inherited them or will not. It does
// nothing if w is nil.
func (w *childFiles) close() {
	if w == nil {
		return
	}
	for _, f := range w.files() {
		f.Close() // nil is fine, and the error does not matter
	}
}

// connect makes the connections of the task with a child, and begins to read its output.
//
// The pipes and the socket belong to the task, not to the process: each further task of a
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
	t.conn = &control{Conn: conn, ended: make(chan struct{}), closed: t.kill}
	return w, nil
}

// disconnect undoes connect after the child's ends are closed.
func (t *task) disconnect() {
	for _, s := range []*stream{&t.stdout, &t.stderr} {
		if s.pipe != nil {
			s.pipe.Close() // ends its reader
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
	received atomic.Bool   // the task has sent something
	ended    chan struct{} // closed once a Read has failed: nothing more arrives
	end      sync.Once     // closes ended
	closed   func()
}

// Read implements io.Reader. It notes that something has arrived: a program that sends
// nothing does not call mr.Main, and the error says so.
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

// hasReceived reports whether the task has sent something. The process has exited, so the
// reader comes to the end of what it sent; if that takes longer than the deadline, the
// answer is about what was read until then.
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

// Close closes the socket, and kills a task that still runs.
func (c *control) Close() error {
	err := c.Conn.Close()
	c.closed()
	return err
}

// stream copies one of a task's outputs to a log.
type stream struct {
	pipe     *os.File // the daemon's end; nil before connect
	log      *logFile
	complete bool // all that was printed has arrived; valid once copy has returned
}

// copyBuffers holds buffers for stream.copy.
var copyBuffers = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// copy reads the output to its end, even if the log cannot be written.
func (s *stream) copy(pipe *os.File) {
	buf := copyBuffers.Get().(*[64 << 10]byte)
	defer copyBuffers.Put(buf)
	for {
		n, err := pipe.Read(buf[:])
		_, _ = s.log.Write(buf[:n]) // never fails
		if err != nil {
			s.complete = err == io.EOF
			return
		}
	}
}

// close closes what is open and returns the first error of the log.
func (s *stream) close() error {
	if s.pipe != nil {
		s.pipe.Close()
	}
	if s.log == nil {
		return nil
	}
	return s.log.Close()
}
