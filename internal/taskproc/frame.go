package taskproc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"
)

// MaxMessageBytes is the longest message that is sent or accepted. It allows a job
// configuration of 64 MiB.
const MaxMessageBytes = 128 << 20

// ErrMessageTooLong marks a message of more than MaxMessageBytes, or a stream that has
// no messages at all.
var ErrMessageTooLong = errors.New("taskproc: message too long")

// WriteMessage writes m as its length (a uvarint) and its bytes, in one Write.
func WriteMessage(w io.Writer, m proto.Message) error {
	size := proto.Size(m)
	if size > MaxMessageBytes {
		return fmt.Errorf("%w: %d bytes of %s, the limit is %d",
			ErrMessageTooLong, size, m.ProtoReflect().Descriptor().Name(), MaxMessageBytes)
	}
	frame := binary.AppendUvarint(make([]byte, 0, binary.MaxVarintLen64+size), uint64(size))
	frame, err := proto.MarshalOptions{UseCachedSize: true}.MarshalAppend(frame, m)
	if err != nil {
		return fmt.Errorf("taskproc: encoding of %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	_, err = w.Write(frame)
	return err
}

// ReadMessage reads the next message into m. The error is io.EOF at the end of the
// stream, and io.ErrUnexpectedEOF if the stream ends inside a message. Memory grows
// with the bytes that arrive, not with the announced length.
func ReadMessage(r *bufio.Reader, m proto.Message) error {
	size, err := binary.ReadUvarint(r)
	if err != nil {
		return err
	}
	if size > MaxMessageBytes {
		return fmt.Errorf("%w: a length of %d bytes was announced, the limit is %d",
			ErrMessageTooLong, size, MaxMessageBytes)
	}
	var body bytes.Buffer
	n, err := io.CopyN(&body, r, int64(size))
	if err == io.EOF && n < int64(size) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return err
	}
	if err := proto.Unmarshal(body.Bytes(), m); err != nil {
		return fmt.Errorf("taskproc: decoding of %s: %w", m.ProtoReflect().Descriptor().Name(), err)
	}
	return nil
}
