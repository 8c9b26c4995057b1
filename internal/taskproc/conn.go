package taskproc

import (
	"bufio"
	"io"
	"sync"

	"google.golang.org/protobuf/proto"
)

// conn frames messages on a byte stream. Any goroutine may send; one receives.
type conn struct {
	stream io.ReadWriteCloser
	reader *bufio.Reader
	mu     struct{ sync.Mutex } // held while a message is written
}

func newConn(stream io.ReadWriteCloser) *conn {
	return &conn{stream: stream, reader: bufio.NewReader(stream)}
}

func (c *conn) send(m proto.Message) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return WriteMessage(c.stream, m)
}

// TaskEnd is the task's end of the connection.
type TaskEnd struct{ c *conn }

// NewTaskEnd makes the task's end over stream.
func NewTaskEnd(stream io.ReadWriteCloser) TaskEnd { return TaskEnd{newConn(stream)} }

// Send sends one message. Any goroutine may call it. It blocks until the other end
// receives the message.
func (e TaskEnd) Send(m *FromTask) error { return e.c.send(m) }

// Receive waits for the next message. One goroutine calls it. The error is io.EOF if
// the other end has closed.
func (e TaskEnd) Receive() (*ToTask, error) {
	m := new(ToTask)
	return m, ReadMessage(e.c.reader, m)
}

// Close closes the connection. A Send or Receive in progress returns an error.
func (e TaskEnd) Close() error { return e.c.stream.Close() }

// TasknodeEnd is the tasknode's end of the connection.
type TasknodeEnd struct{ c *conn }

// NewTasknodeEnd makes the tasknode's end over stream.
func NewTasknodeEnd(stream io.ReadWriteCloser) TasknodeEnd { return TasknodeEnd{newConn(stream)} }

// Send sends one message. Any goroutine may call it. It blocks until the other end
// receives the message.
func (e TasknodeEnd) Send(m *ToTask) error { return e.c.send(m) }

// Receive waits for the next message. One goroutine calls it. The error is io.EOF if
// the other end has closed.
func (e TasknodeEnd) Receive() (*FromTask, error) {
	m := new(FromTask)
	return m, ReadMessage(e.c.reader, m)
}

// Close closes the connection. A Send or Receive in progress returns an error.
func (e TasknodeEnd) Close() error { return e.c.stream.Close() }
