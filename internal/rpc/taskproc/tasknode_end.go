package taskproc

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// TasknodeEnd is the tasknode's end of the connection.
//
// The program of a tasknode may be replaced while its tasks run. So an end can be paused: then
// nothing is received or sent, and Pause returns what has arrived of an incomplete message, and
// what is unsent of another. An end that ContinueTasknodeEnd makes from this loses no byte.
type TasknodeEnd struct{ c *tasknodeConn }

// tasknodeConn is the state of a TasknodeEnd. One goroutine receives. Order of locks: sending,
// then mu.
type tasknodeConn struct {
	stream  io.ReadWriteCloser
	raw     syscall.RawConn // descriptor of stream; nil if it has none, and then the end cannot be paused
	buffer  []byte          // what the receiver reads into
	sending sync.Mutex      // locked while a message is sent

	mu struct { // locked while bytes or messages move, but not during a wait for the task
		sync.Mutex
		in  []byte // received bytes of messages that are not complete or not handled
		out []byte // rest of the message that is being sent
	}
}

// receiveBuffer is how many bytes are received at once. Most messages are shorter.
const receiveBuffer = 4 << 10

// NewTasknodeEnd makes the tasknode's end over stream.
func NewTasknodeEnd(stream io.ReadWriteCloser) TasknodeEnd {
	return ContinueTasknodeEnd(stream, nil, nil)
}

// ContinueTasknodeEnd makes an end that continues after another one of the same connection, which
// Pause has stopped.
func ContinueTasknodeEnd(stream io.ReadWriteCloser, received, unsent []byte) TasknodeEnd {
	c := &tasknodeConn{stream: stream, buffer: make([]byte, receiveBuffer)}
	c.mu.in, c.mu.out = received, unsent
	if s, has := stream.(syscall.Conn); has {
		c.raw, _ = s.SyscallConn() // fails only for a closed stream, which reads and writes report
	}
	return TasknodeEnd{c}
}

// Send sends one message. Any goroutine may call it. It blocks until the other end
// receives the message.
func (e TasknodeEnd) Send(m *ToTask) error {
	_, err := e.SendNext(func() *ToTask { return m })
	return err
}

// SendNext sends the message that next returns, and reports whether there was one. A paused end
// does not call next.
func (e TasknodeEnd) SendNext(next func() *ToTask) (sent bool, err error) {
	c := e.c
	c.sending.Lock()
	defer c.sending.Unlock()
	if err := c.flush(); err != nil { // what an earlier end has left
		return false, err
	}
	c.mu.Lock()
	m := next()
	if m != nil {
		c.mu.out, err = encodeFrame(m, MaxMessageBytes)
	}
	c.mu.Unlock()
	if m == nil || err != nil {
		return m != nil, err
	}
	return true, c.flush()
}

// flush sends the rest of a message. If the stream has a descriptor, flush waits without the
// lock mu, and writes with it.
func (c *tasknodeConn) flush() (err error) {
	if c.raw == nil {
		if len(c.mu.out) > 0 {
			_, err = c.stream.Write(c.mu.out)
			c.mu.Lock()
			c.mu.out = nil
			c.mu.Unlock()
		}
		return err
	}
	closed := c.raw.Write(func(fd uintptr) (done bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for len(c.mu.out) > 0 {
			n, writeErr := unix.Write(int(fd), c.mu.out)
			switch {
			case writeErr == nil:
				c.mu.out = c.mu.out[n:]
			case writeErr == unix.EAGAIN:
				return false
			case writeErr != unix.EINTR:
				err = writeErr
				return true
			}
		}
		return true
	})
	return errors.Join(err, closed)
}

// Receive waits for the next message. One goroutine calls it. The error is io.EOF if
// the other end has closed. It wraps ErrMessageTooLong if the task sends a message of more than
// MaxFromTaskBytes; the connection is of no use then.
func (e TasknodeEnd) Receive() (*FromTask, error) {
	m := new(FromTask)
	err := e.ReceiveTo(func(received *FromTask) { m = received })
	return m, err
}

// ReceiveTo is Receive for a caller that handles the message in handle, which must not wait. An
// end is not paused between the receipt of a message and the end of handle.
func (e TasknodeEnd) ReceiveTo(handle func(*FromTask)) error {
	for {
		if complete, err := e.c.handleNext(handle); complete || err != nil {
			return err
		}
		if err := e.c.fill(); err != nil {
			return err
		}
	}
}

// handleNext handles the next message if all of it has arrived.
func (c *tasknodeConn) handleNext(handle func(*FromTask)) (complete bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	size, head := binary.Uvarint(c.mu.in)
	switch {
	case head < 0:
		return false, errors.New("taskproc: length of a message of more than 64 bits")
	case size > MaxFromTaskBytes:
		return false, announced(size, MaxFromTaskBytes)
	case head == 0 || uint64(len(c.mu.in)-head) < size:
		return false, nil
	}
	m := new(FromTask)
	if err := decode(c.mu.in[head:head+int(size)], m); err != nil {
		return false, err
	}
	c.mu.in = c.mu.in[head+int(size):]
	handle(m)
	return true, nil
}

// fill waits for bytes and receives them. The error is io.ErrUnexpectedEOF if the stream ends
// inside a message.
func (c *tasknodeConn) fill() error {
	if c.raw == nil {
		n, err := c.stream.Read(c.buffer)
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.receivedLocked(n, err)
	}
	_ = awaitReadable(c.raw) // Read returns the error of a closed stream
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.stream.Read(c.buffer)
	return c.receivedLocked(n, err)
}

// receivedLocked adds n bytes of the buffer to those that have arrived.
func (c *tasknodeConn) receivedLocked(n int, err error) error {
	c.mu.in = append(c.mu.in, c.buffer[:n]...)
	switch {
	case n > 0:
		return nil
	case err == io.EOF && len(c.mu.in) > 0:
		return io.ErrUnexpectedEOF
	}
	return err
}

// awaitReadable waits until a read does not block, and reads nothing.
func awaitReadable(raw syscall.RawConn) error {
	return raw.Read(func(fd uintptr) (done bool) {
		for {
			n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
			if err != unix.EINTR {
				return n > 0 || err != nil
			}
		}
	})
}

// Pause stops the end until Resume. It returns the received bytes that belong to no handled
// message, and the bytes that must be sent before the next message.
func (e TasknodeEnd) Pause() (received, unsent []byte) {
	e.c.mu.Lock()
	return e.c.mu.in, e.c.mu.out
}

// Resume ends a pause.
func (e TasknodeEnd) Resume() { e.c.mu.Unlock() }

// Close closes the connection. A Send or Receive in progress returns an error.
func (e TasknodeEnd) Close() error { return e.c.stream.Close() }
