package compress

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/hammr/hammr/internal/data/format/bzip2"
	"github.com/hammr/hammr/storage"
)

const readBuffer = 128 << 10

// Reader reads the plain bytes of a compressed stream. It is used by one goroutine. An empty
// stream has no plain bytes, whatever its codec.
type Reader struct {
	name   string
	codec  *Codec // nil if the stream is not compressed
	source source
	buffer *bufio.Reader
	plain  io.ReadCloser // nil before the first Read
	blocks *bzip2.Reader // plain, if it is a bzip2 file
	err    error
}

// source counts the bytes read from r and keeps its error apart from the
// errors of the format.
type source struct {
	r   io.Reader
	n   int64
	err error
}

// Read implements io.Reader.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.n += int64(n)
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// NewReader reads the plain bytes of r, the content of the file named name, whose extension
// determines the codec. A file without a known extension is not decompressed. Closing the
// Reader does not close r.
func NewReader(name string, r io.Reader) *Reader { return ByExtension(name).NewReader(name, r) }

// NewReader reads the plain bytes of r, compressed with c, or not compressed if c is nil.
// The name is used in errors.
func (c *Codec) NewReader(name string, r io.Reader) *Reader {
	z := &Reader{name: name, codec: c, source: source{r: r}}
	z.buffer = bufio.NewReaderSize(&z.source, readBuffer)
	return z
}

// Read reads plain bytes. If data is damaged or truncated, the error wraps
// storage.ErrCorrupt and has the approximate offset in the compressed file. An error of the
// file itself is returned unchanged.
func (z *Reader) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	if z.plain == nil {
		if z.err = z.open(); z.err != nil {
			return 0, z.err
		}
	}
	n, err := z.plain.Read(p)
	if err != nil {
		z.err = z.explain(err)
	}
	return n, z.err
}

// open begins the first frame. An empty file has no plain bytes, in every codec.
func (z *Reader) open() error {
	if _, err := z.buffer.Peek(1); err != nil {
		return err
	}
	if z.codec == nil {
		z.plain = io.NopCloser(z.buffer)
		return nil
	}
	if z.codec == bzip2Codec {
		z.blocks = bzip2.NewReader(z.name, z.buffer, 0)
		z.plain = z.blocks
		return nil
	}
	plain, err := z.codec.open(z.buffer)
	if err != nil {
		return z.explain(err)
	}
	z.plain = plain
	return nil
}

// explain returns the error of the file if it has one. Otherwise the error comes from the
// format, so the data is damaged.
func (z *Reader) explain(err error) error {
	switch {
	case z.source.err != nil:
		return z.source.err
	case err == io.EOF && z.plain != nil, z.codec == nil, z.blocks != nil:
		return err
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%s: %w: %s data ends in the middle, after %d bytes", z.name, storage.ErrCorrupt, z.codec.name, z.source.n)
	}
	return fmt.Errorf("%s: %w: %s data near byte %d: %w", z.name, storage.ErrCorrupt, z.codec.name, z.Consumed(), err)
}

// Consumed returns the number of compressed bytes used so far: those read from the file,
// without those that wait in the buffer. Of a bzip2 file it counts whole blocks.
func (z *Reader) Consumed() int64 {
	if z.blocks != nil {
		return z.blocks.Offset()
	}
	return z.source.n - int64(z.buffer.Buffered())
}

// Close releases the memory of the codec; it does not close the file. A Read after Close is
// an error.
func (z *Reader) Close() error {
	z.err = errors.Join(z.err, errClosed)
	if z.plain == nil {
		return nil
	}
	return z.plain.Close()
}

var errClosed = errors.New("compress: read after Close")
