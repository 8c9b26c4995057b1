package process

import (
	"net"
	"os"
	"sync/atomic"

	"github.com/hammr/hammr/internal/taskproc"
	"golang.org/x/sys/unix"
)

// controlFD is the control socket's descriptor in the child: the first after
// the standard ones.
const controlFD = 3

// wires are the child's ends of what connects it with the daemon.
type wires struct {
	null, stdout, stderr, control *os.File
}

func (w *wires) files() []*os.File { return []*os.File{w.null, w.stdout, w.stderr, w.control} }

// close closes the child's ends, once the child has its own or has none.
func (w *wires) close() {
	for _, f := range w.files() {
		f.Close() // nil is fine: the error is of no use
	}
}

// openWires connects the task with a child to be.
func (t *task) openWires() (w *wires, err error) {
	w = new(wires)
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.null, err = os.Open(os.DevNull); err != nil {
		return nil, err
	}
	if t.stdout.pipe, w.stdout, err = os.Pipe(); err != nil {
		return nil, err
	}
	if t.stderr.pipe, w.stderr, err = os.Pipe(); err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	w.control = os.NewFile(uintptr(pair[1]), taskproc.ControlMark)
	ours := os.NewFile(uintptr(pair[0]), "control socket")
	defer ours.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, err
	}
	t.conn = &control{Conn: conn, closed: t.kill}
	return w, nil
}

// control is the daemon's end of a control socket.
type control struct {
	net.Conn
	heard  atomic.Bool // the task has said something
	closed func()
}

func (c *control) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.heard.Store(true)
	}
	return n, err
}

// Close hangs up, which ends a task that is still there.
func (c *control) Close() error {
	err := c.Conn.Close()
	c.closed()
	return err
}

// stream is one of a task's outputs on its way to a log.
type stream struct {
	pipe *os.File // the daemon's end
	log  *logFile
}

// copy reads all that comes, also when it cannot be kept.
func (s *stream) copy() {
	buf := make([]byte, 64<<10)
	for {
		n, err := s.pipe.Read(buf)
		_, _ = s.log.Write(buf[:n]) // never fails
		if err != nil {
			return
		}
	}
}

// close closes what is open and reports the first fault of the log.
func (s *stream) close() error {
	if s.pipe != nil {
		s.pipe.Close()
	}
	if s.log == nil {
		return nil
	}
	return s.log.Close()
}
