package joblog

import (
	"encoding/binary"
	"io"

	"github.com/cespare/xxhash/v2"
)

// Writer writes a file of logs. It keeps only the index in memory, at most MaxIndex bytes.
type Writer struct {
	to    io.Writer
	index []byte // encoded entries of the logs so far
	logs  uint32 // number of entries
	begun bool   // the magic was written
	err   error  // the first error of to; nothing is written after it
}

// NewWriter returns a Writer of a new file. The caller closes the file after Close.
func NewWriter(to io.Writer) *Writer { return &Writer{to: to} }

// Add copies a log to the file. After an error of the file or of the log, the file is
// incomplete and Close returns the error too. ErrFull leaves the file as it was.
func (w *Writer) Add(attempt, stream string, log io.Reader) error {
	for _, name := range []string{attempt, stream} {
		if err := checkName(name); err != nil {
			return err
		}
	}
	if len(w.index)+len(attempt)+len(stream)+3*binary.MaxVarintLen64+8 > MaxIndex {
		return ErrFull
	}
	w.begin()
	if w.err != nil {
		return w.err
	}
	sum := xxhash.New()
	length, err := io.Copy(io.MultiWriter(w.to, sum), log)
	if w.err = err; err != nil {
		return err
	}
	w.index = appendName(w.index, attempt)
	w.index = appendName(w.index, stream)
	w.index = binary.AppendUvarint(w.index, uint64(length))
	w.index = binary.LittleEndian.AppendUint64(w.index, sum.Sum64())
	w.logs++
	return nil
}

// Close writes the index. It returns the first error of the file.
func (w *Writer) Close() error {
	w.begin()
	b := binary.LittleEndian.AppendUint64(w.index, uint64(len(w.index)))
	b = binary.LittleEndian.AppendUint32(b, w.logs)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b))
	w.write(append(b, magic...))
	return w.err
}

// begin writes the magic before anything else.
func (w *Writer) begin() {
	if !w.begun {
		w.begun = true
		w.write([]byte(magic))
	}
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		_, w.err = w.to.Write(b)
	}
}

// appendName appends a name with its length.
func appendName(b []byte, name string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(name))), name...)
}
