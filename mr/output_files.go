package mr

import (
	"fmt"
	"io"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/format/compress"
	"github.com/hammr/hammr/internal/data/format/seqfile"
	"github.com/hammr/hammr/internal/data/poison"
)

// TextOutput writes lines of key, separator and value, in their text form, as TextOutputFormat
// does. The separator is a tab, or mapreduce.output.textoutputformat.separator. A key or value
// of type struct{} is left out together with the separator, as NullWritable is in Hadoop.
func TextOutput[K, V any]() Output[K, V] { return textOutput[K, V]{} }

// textOutput needs no state: its formats follow from the types.
type textOutput[K, V any] struct{}

func (textOutput[K, V]) Suffix(t *Task) (string, error) { return suffix(t) }

// Create implements Output.
func (textOutput[K, V]) Create(t *Task, w io.Writer) (RecordWriter[K, V], error) {
	s, err := newSink(t, w)
	if err != nil {
		return nil, err
	}
	l := &lineWriter[K, V]{sink: s, key: textOf[K](), value: textOf[V]()}
	if !isEmpty[K]() && !isEmpty[V]() {
		l.separator = []byte(t.Property(conf.TextOutputSeparator))
	}
	return l, nil
}

// suffix returns the suffix of the files that newSink writes.
func suffix(t *Task) (string, error) {
	codec, err := outputCodec(t.node.Attempt.Conf)
	if err != nil || codec == nil {
		return "", err
	}
	return codec.Extension(), nil
}

// lineWriter appends the text of a record to the sink's buffer. Both functions are chosen once
// per file.
type lineWriter[K, V any] struct {
	*sink
	key       appender[K]
	value     appender[V]
	separator []byte
}

func (w *lineWriter[K, V]) Write(key K, value V) error {
	b := w.key(w.begin(), key)
	b = append(b, w.separator...)
	return w.end(append(w.value(b, value), '\n'))
}

// BytesOutput writes the bytes of each key and value, with nothing between or after them.
func BytesOutput() Output[[]byte, []byte] { return bytesOutput{} }

// bytesOutput is the output for formats of the user's own.
type bytesOutput struct{}

func (bytesOutput) Suffix(t *Task) (string, error) { return suffix(t) }

func (bytesOutput) Create(t *Task, w io.Writer) (RecordWriter[[]byte, []byte], error) {
	s, err := newSink(t, w)
	return bytesWriter{s}, err
}

// bytesWriter writes keys and values as they are. A reader must know where records end, as
// FixedLength does.
type bytesWriter struct{ *sink }

func (w bytesWriter) Write(key, value []byte) error {
	return w.end(append(append(w.begin(), key...), value...))
}

// SequenceOutput writes Hadoop's SequenceFiles, as SequenceFileOutputFormat does, compressed as
// mapreduce.output.fileoutputformat.compress, .codec and .type say.
func SequenceOutput[K, V any](key Writable[K], value Writable[V]) Output[K, V] {
	return sequenceOutput[K, V]{key, value}
}

// sequenceOutput has the classes that the header names.
type sequenceOutput[K, V any] struct {
	key   Writable[K]
	value Writable[V]
}

// checkCodec refuses a codec with which Hadoop could not read the files.
func (sequenceOutput[K, V]) checkCodec(c *conf.Conf) error {
	if kind, err := seqfile.ParseCompression(c.String(conf.OutputCompressType)); err != nil || kind == seqfile.None {
		return err
	}
	if err := seqfile.CheckCodec(c.String(conf.OutputCompressCodec)); err != nil {
		return fmt.Errorf("%s: %w", conf.OutputCompressCodec, err)
	}
	return nil
}

func (sequenceOutput[K, V]) Suffix(*Task) (string, error) { return "", nil }

// Create implements Output. The header names the codec, so the file's name has no suffix.
func (o sequenceOutput[K, V]) Create(t *Task, w io.Writer) (RecordWriter[K, V], error) {
	header := seqfile.Header{KeyClass: o.key.Class, ValueClass: o.value.Class}
	header.Sync = syncMark(t)
	if t.node.Attempt.Conf.Bool(conf.OutputCompress) {
		var err error
		if header.Compression, err = seqfile.ParseCompression(t.Property(conf.OutputCompressType)); err != nil {
			return nil, fmt.Errorf("%s: %w", conf.OutputCompressType, err)
		}
		header.Codec = t.Property(conf.OutputCompressCodec)
	}
	out, err := seqfile.NewWriter(w, seqfile.Options{Header: header})
	if err != nil {
		return nil, err
	}
	return &sequenceWriter[K, V]{o: o, out: out}, nil
}

// syncMark returns the sync mark of a task's file. The mark is the same in each run of a
// job, and differs between jobs of different names or configurations.
func syncMark(t *Task) [16]byte {
	start := t.node.Attempt.Start
	return seqfile.SyncMark(start.Program, t.Property(conf.JobName), string(start.Config), fmt.Sprint(start.Kind), fmt.Sprint(t.Part()))
}

// sequenceWriter is resumable, because the position of the next mark depends on the bytes
// written before.
type sequenceWriter[K, V any] struct {
	o          sequenceOutput[K, V]
	out        *seqfile.Writer
	key, value []byte
}

func (w *sequenceWriter[K, V]) Write(key K, value V) error {
	w.key = w.o.key.Append(w.key[:0], key)
	w.value = w.o.value.Append(w.value[:0], value)
	return w.out.Write(w.key, w.value)
}

func (w *sequenceWriter[K, V]) Close() error { return w.out.Close() }

func (w *sequenceWriter[K, V]) Framed() bool                { return true }
func (w *sequenceWriter[K, V]) Checkpoint() ([]byte, error) { return w.out.Checkpoint() }
func (w *sequenceWriter[K, V]) Resume(pending []byte) error { return w.out.Resume(pending) }

// sinkBuffer is the number of bytes that are collected before a write to a plain file.
const sinkBuffer = 128 << 10

// sink takes encoded records and writes them to a file, plain or compressed:
//
//	b := append(s.begin(), …)
//	err := s.end(b)
//
// A plain file gets the buffer when it is full. A compressed one gets each record, and the
// codec decides where a frame ends.
type sink struct {
	w      io.Writer
	z      *compress.Writer // nil for a plain file
	poison bool             // overwrite what has been written

	buf []byte // records that are not written yet; for a compressed file only the current record
}

// newSink writes to w as mapreduce.output.fileoutputformat.compress and .compress.codec say.
func newSink(t *Task, w io.Writer) (*sink, error) {
	codec, err := outputCodec(t.node.Attempt.Conf)
	if err != nil || codec == nil {
		return &sink{w: w, poison: t.poisoned()}, err
	}
	z, err := codec.NewWriter(w, 0)
	return &sink{w: w, z: z, poison: t.poisoned()}, err
}

// begin returns the buffer to append the next record to.
func (s *sink) begin() []byte { return s.buf }

// end takes the buffer back, with a record at its end.
func (s *sink) end(b []byte) error {
	if s.z != nil {
		s.buf = b[:0]
		_, err := s.z.Write(b)
		if s.written(b); err != nil {
			return err
		}
		return s.z.EndRecord()
	}
	if s.buf = b; len(b) < sinkBuffer {
		return nil
	}
	return s.flush()
}

// flush writes the buffer of a plain file.
func (s *sink) flush() error {
	_, err := s.w.Write(s.buf)
	s.written(s.buf)
	s.buf = s.buf[:0]
	return err
}

// written overwrites b with poison. The file and the compressor may not keep what they get.
func (s *sink) written(b []byte) {
	if s.poison {
		poison.Fill(b)
	}
}

// Close writes the buffered bytes.
func (s *sink) Close() error {
	if s.z != nil {
		return s.z.Close()
	}
	return s.flush()
}

// Checkpoint returns the bytes that are in no frame yet.
func (s *sink) Checkpoint() ([]byte, error) { return s.z.Pending(), nil }

// Resume continues the file of another attempt with the bytes that Checkpoint returned
// there.
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

// outputCodec returns the codec of output files according to the properties; nil for none.
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
