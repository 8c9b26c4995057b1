package text

import (
	"bytes"
	"io"

	"github.com/hammr/hammr/internal/format"
)

// writeBuffer is how many bytes are gathered before they are written.
const writeBuffer = 64 << 10

// recordWriter is a writer that wants to know where records end, as
// compress.Writer does.
type recordWriter interface {
	io.Writer
	EndRecord() error
}

// NewWriter writes lines "key separator value LF" to w, as Hadoop's
// TextOutputFormat. A nil key or value is left out together with the
// separator; a record of two nils writes nothing at all, not even the LF. A
// key or value that is empty but not nil keeps its separator.
//
// When w has a method EndRecord it is called after every record.
func NewWriter(w io.Writer, separator []byte) format.Writer {
	line := lineWriter{separator: bytes.Clone(separator)}
	if r, ok := w.(recordWriter); ok {
		return &unbufferedWriter{line, r}
	}
	line.buf = make([]byte, 0, writeBuffer)
	return &bufferedWriter{line, w, nil}
}

// lineWriter makes lines in a buffer.
type lineWriter struct {
	separator []byte
	buf       []byte
}

func (l *lineWriter) append(key, value []byte) {
	if key == nil && value == nil {
		return
	}
	l.buf = append(l.buf, key...)
	if key != nil && value != nil {
		l.buf = append(l.buf, l.separator...)
	}
	l.buf = append(l.buf, value...)
	l.buf = append(l.buf, '\n')
}

type bufferedWriter struct {
	lineWriter
	w   io.Writer
	err error
}

func (b *bufferedWriter) Write(key, value []byte) error {
	if len(b.buf)+len(key)+len(value)+len(b.separator) >= cap(b.buf) {
		b.flush()
	}
	b.append(key, value)
	return b.err
}

func (b *bufferedWriter) flush() {
	if b.err == nil && len(b.buf) > 0 {
		_, b.err = b.w.Write(b.buf)
	}
	b.buf = b.buf[:0]
}

func (b *bufferedWriter) Close() error {
	b.flush()
	return b.err
}

// unbufferedWriter hands each line on, to a writer that gathers them itself.
type unbufferedWriter struct {
	lineWriter
	w recordWriter
}

func (u *unbufferedWriter) Write(key, value []byte) error {
	u.buf = u.buf[:0]
	u.append(key, value)
	if _, err := u.w.Write(u.buf); err != nil {
		return err
	}
	return u.w.EndRecord()
}

func (u *unbufferedWriter) Close() error { return nil }
