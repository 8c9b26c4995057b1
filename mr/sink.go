package mr

import (
	"fmt"
	"io"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/format/compress"
)

// sinkBuffer is how many bytes are collected before they are written to a plain file.
const sinkBuffer = 128 << 10

// sink takes encoded records and writes them to a file, plain or compressed:
//
//	b := append(s.begin(), …)
//	err := s.end(b)
type sink struct {
	w   io.Writer
	z   *compress.Writer // nil for a plain file
	buf []byte
}

// newSink writes to w as the job's properties say.
func newSink(t *Task, w io.Writer) (*sink, error) {
	codec, err := outputCodec(t.node.Attempt.Conf)
	if err != nil || codec == nil {
		return &sink{w: w}, err
	}
	z, err := codec.NewWriter(w, 0)
	return &sink{w: w, z: z}, err
}

// begin returns the buffer to append the next record to.
func (s *sink) begin() []byte { return s.buf }

// end takes the buffer back, with a record at its end.
func (s *sink) end(b []byte) error {
	if s.z != nil {
		s.buf = b[:0]
		if _, err := s.z.Write(b); err != nil {
			return err
		}
		return s.z.EndRecord()
	}
	if s.buf = b; len(b) < sinkBuffer {
		return nil
	}
	return s.flush()
}

func (s *sink) flush() error {
	_, err := s.w.Write(s.buf)
	s.buf = s.buf[:0]
	return err
}

// Close writes what is buffered.
func (s *sink) Close() error {
	if s.z != nil {
		return s.z.Close()
	}
	return s.flush()
}

// Checkpoint returns the bytes that are in no frame yet.
func (s *sink) Checkpoint() ([]byte, error) { return s.z.Pending(), nil }

// Resume takes, in another attempt, what Checkpoint returned.
func (s *sink) Resume(pending []byte) error {
	_, err := s.z.Write(pending)
	return err
}

// Framed reports whether the file is made of frames whose ends depend only on its content.
func (s *sink) Framed() bool { return s.z != nil }

// resumable is a RecordWriter of framed files. Such a file can be divided at any record,
// without a change to the bytes of the whole.
type resumable interface {
	Framed() bool
	Checkpoint() (pending []byte, err error)
	Resume(pending []byte) error
}

// outputCodec is the codec of output files according to the properties; nil for none.
func outputCodec(c *conf.Conf) (*compress.Codec, error) {
	if !c.Bool(conf.OutputCompress) {
		return nil, nil
	}
	codec, err := compress.Parse(c.String(conf.OutputCompressCodec))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", conf.OutputCompressCodec, err)
	}
	return codec, nil
}
