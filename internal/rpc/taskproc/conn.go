package taskproc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/rpc/protocol"
)

// conn frames messages on a byte stream. Any goroutine may send; one receives.
//
//	| length, uvarint | protobuf message | length | protobuf message | …
type conn struct {
	stream io.ReadWriteCloser
	reader *bufio.Reader
	mu     struct{ sync.Mutex } // locked while a message is written
}

func newConn(stream io.ReadWriteCloser) *conn {
	return &conn{stream: stream, reader: bufio.NewReader(stream)}
}

func (c *conn) send(m proto.Message, limit int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return writeMessage(c.stream, m, limit)
}

// TaskEnd is the task's end of the connection.
type TaskEnd struct {
	c        *conn
	versions protocol.Versions // that the program speaks
}

// NewTaskEnd makes the task's end over stream.
func NewTaskEnd(stream io.ReadWriteCloser) TaskEnd { return TaskEnd{newConn(stream), Protocol} }

// Send sends one message. Any goroutine may call it. It blocks until the other end
// receives the message. The error wraps ErrMessageTooLong if the message has more than
// MaxFromTaskBytes; then nothing is sent.
func (e TaskEnd) Send(m *FromTask) error { return e.c.send(m, MaxFromTaskBytes) }

// Receive waits for the next message, and unpacks its outputs. One goroutine calls it. The
// error is io.EOF if the other end has closed.
func (e TaskEnd) Receive() (*ToTask, error) {
	m := new(ToTask)
	if err := ReadMessage(e.c.reader, m); err != nil {
		return m, err
	}
	return m, m.GetOutputs().unpack()
}

// Close closes the connection. A Send or Receive in progress returns an error.
func (e TaskEnd) Close() error { return e.c.stream.Close() }

// PhaseResume is the phase of a Progress while the attempt fetches the checkpoint that it
// resumes from. In later phases the attempt needs no other machine for it.
const PhaseResume = "resume"

// MaxMessageBytes is the longest message that is sent or accepted. It allows a job
// configuration of 64 MiB.
const MaxMessageBytes = 128 << 20

// MaxFromTaskBytes is the longest message of a task. The tasknode passes it on to the master,
// which accepts longer ones. It is enough for the report of an attempt that has written 10,000
// files and counts under 10,000 names.
const MaxFromTaskBytes = 8 << 20

// ErrMessageTooLong marks a message that is longer than the receiver accepts, or a stream that
// has no messages at all.
var ErrMessageTooLong = errors.New("taskproc: message too long")

// WriteMessage writes m as its length (a uvarint) and its bytes, in one Write.
func WriteMessage(w io.Writer, m proto.Message) error { return writeMessage(w, m, MaxMessageBytes) }

// AppendMessage appends to b what WriteMessage would write.
func AppendMessage(b []byte, m proto.Message) ([]byte, error) {
	frame, err := encodeFrame(m, MaxMessageBytes)
	return append(b, frame...), err
}

// writeMessage is WriteMessage for messages of at most limit bytes.
func writeMessage(w io.Writer, m proto.Message, limit int) error {
	frame, err := encodeFrame(m, limit)
	if err == nil {
		_, err = w.Write(frame)
	}
	return err
}

// encodeFrame returns the length of m and its bytes.
func encodeFrame(m proto.Message, limit int) ([]byte, error) {
	size := proto.Size(m)
	if size > limit {
		return nil, fmt.Errorf("%w: %d bytes of %s, the limit is %d",
			ErrMessageTooLong, size, m.ProtoReflect().Descriptor().Name(), limit)
	}
	frame := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64+size), uint64(size))
	frame, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(frame, m)
	if err != nil {
		return nil, fmt.Errorf("taskproc: encoding of %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return frame, nil
}

// ReadMessage reads the next message into m. The error is io.EOF at the end of the
// stream, and io.ErrUnexpectedEOF if the stream ends inside a message. Memory grows
// with the bytes that arrive, not with the announced length.
func ReadMessage(r *bufio.Reader, m proto.Message) error { return readMessage(r, m, MaxMessageBytes) }

// readMessage is ReadMessage for messages of at most limit bytes.
func readMessage(r *bufio.Reader, m proto.Message, limit uint64) error {
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return err
	}
	if size > limit {
		return announced(size, limit)
	}
	body, err := next(r, int64(size))
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	return decode(body, m)
}

// announced returns the error for a message that is announced with too many bytes.
func announced(size, limit uint64) error {
	return fmt.Errorf("%w: a length of %d bytes was announced, the limit is %d", ErrMessageTooLong, size, limit)
}

// decode decodes the bytes of a message into m.
func decode(body []byte, m proto.Message) error {
	if err := proto.Unmarshal(body, m); err != nil {
		return fmt.Errorf("taskproc: decoding of %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}

// next returns the next n bytes, which are valid until the next read. The error is io.EOF if
// there are fewer. Most messages fit into the buffer of r, and are not copied.
func next(r *bufio.Reader, n int64) ([]byte, error) {
	if n <= int64(r.Size()) {
		body, err := r.Peek(int(n))
		_, _ = r.Discard(len(body)) // they are in the buffer
		return body, err
	}
	var body bytes.Buffer
	_, err := io.CopyN(&body, r, n)
	return body.Bytes(), err
}
