package seqfile

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/hammr/hammr/internal/data/format/writable"
	"github.com/hammr/hammr/storage"
)

// source reads a file forward and knows its position. The slices that it returns are valid
// until the following call.
//
// Invariant: pos <= size; no call allocates more than size - pos bytes.
type source struct {
	path string
	file storage.File
	in   *bufio.Reader
	pos  int64 // offset of the next byte
	size int64 // bytes in the file
	long []byte
}

// newSource returns a source for a file of size bytes, from its start, with a buffer of
// buffer bytes. The caller closes the file.
func newSource(path string, file storage.File, size int64, buffer int) *source {
	return &source{path: path, file: file, size: size, in: bufio.NewReaderSize(file, buffer)}
}

// corrupt returns an error about the bytes just before the position.
func (s *source) corrupt(what string, args ...any) error {
	return s.corruptAt(s.pos, what, args...)
}

// corruptAt returns an error that names the file and the place, and wraps
// storage.ErrCorrupt.
func (s *source) corruptAt(offset int64, what string, args ...any) error {
	return fmt.Errorf("%s: offset %d: %s: %w", s.path, offset, fmt.Sprintf(what, args...), storage.ErrCorrupt)
}

// truncated returns the error for a file that ends within a value of need bytes, for example
// because its writer was killed.
func (s *source) truncated(need int64) error {
	return s.corrupt("%d bytes needed, the file ends after %d", need, s.size-s.pos)
}

// failed adds the place to an error of the file. An end before the stated size means that
// the file was truncated after the job listed it.
func (s *source) failed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return s.corrupt("file shorter than its stated %d bytes", s.size)
	}
	return fmt.Errorf("%s: read at offset %d: %w", s.path, s.pos, err)
}

// seek moves to an offset. Within the buffer it only skips; otherwise it drops the buffer.
func (s *source) seek(offset int64) error {
	if offset >= s.pos && offset-s.pos <= int64(s.in.Buffered()) {
		s.in.Discard(int(offset - s.pos))
		s.pos = offset
		return nil
	}
	if _, err := s.file.Seek(offset, io.SeekStart); err != nil {
		return s.failed(err)
	}
	s.in.Reset(s.file)
	s.pos = offset
	return nil
}

// take returns the next n bytes, at least 0. They are a view of the buffer if they fit into
// it.
func (s *source) take(n int) ([]byte, error) {
	if int64(n) > s.size-s.pos {
		return nil, s.truncated(int64(n))
	}
	if n > s.in.Size() {
		return s.takeLong(n)
	}
	b, err := s.in.Peek(n)
	if err != nil {
		return nil, s.failed(err)
	}
	s.in.Discard(n)
	s.pos += int64(n)
	return b, nil
}

// takeLong does what take does, for more bytes than the buffer has. It reuses one slice,
// which has the size of the longest record.
func (s *source) takeLong(n int) ([]byte, error) {
	if cap(s.long) < n {
		s.long = make([]byte, n)
	}
	s.long = s.long[:n]
	if _, err := io.ReadFull(s.in, s.long); err != nil {
		return nil, s.failed(err)
	}
	s.pos += int64(n)
	return s.long, nil
}

// word returns the next four bytes as a number. All numbers of the format are big-endian.
func (s *source) word() (uint32, error) {
	b, err := s.take(4)
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint32(b), nil
}

// vint returns the next vint, which must not be negative: all vints of the format are counts
// or lengths.
func (s *source) vint() (int, error) {
	most := min(writable.MaxVLongSize, s.size-s.pos)
	b, err := s.in.Peek(int(most))
	if err != nil {
		return 0, s.failed(err)
	}
	v, n, err := writable.VInt(b)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, s.truncated(most + 1)
	}
	if err != nil {
		return 0, s.corrupt("%v", err)
	}
	if v < 0 {
		return 0, s.corrupt("negative length %d", v)
	}
	s.in.Discard(n)
	s.pos += int64(n)
	return int(v), nil
}

// text returns the next string of the header: a vint length and UTF-8. It refuses a length
// that no class name has, because such a length is probably damage.
func (s *source) text() (string, error) {
	n, err := s.vint()
	if err != nil {
		return "", err
	}
	if n > maxName {
		return "", s.corrupt("text of %d bytes in the header", n)
	}
	b, err := s.take(n)
	return string(b), err
}

// find moves to the first occurrence of pattern at or after the position. It stops at the end
// of the file, or when the position reaches limit. Windows overlap by the length of the pattern
// less one, so an occurrence between two windows is found.
func (s *source) find(pattern []byte, limit int64) (bool, error) {
	for s.pos < limit {
		window := int(min(int64(s.in.Size()), s.size-s.pos))
		if window < len(pattern) {
			return false, nil
		}
		b, err := s.in.Peek(window)
		if err != nil {
			return false, s.failed(err)
		}
		at := bytes.Index(b, pattern)
		skip := at
		if at < 0 {
			skip = window - len(pattern) + 1
		}
		s.in.Discard(skip)
		s.pos += int64(skip)
		if at >= 0 {
			return true, nil
		}
	}
	return false, nil
}
