package seqfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hammr/hammr/internal/data/format/compress"
)

// errLong means that the decompressed data is longer than allowed.
var errLong = errors.New("more data than announced")

// CheckCodec returns an error for a codec that a Writer refuses.
func CheckCodec(name string) error {
	_, err := codecOf(name)
	return err
}

// codecOf returns the codec of a header, which names it by a Java class, or by a short name
// in the options of a Writer. It refuses a codec for which Hadoop has no class, because no
// Hadoop reader could open the file.
func codecOf(class string) (*compress.Codec, error) {
	c, err := compress.Parse(class)
	if err != nil {
		return nil, fmt.Errorf("SequenceFile: %w", err)
	}
	if c.Class() == "" {
		return nil, fmt.Errorf("SequenceFile with codec %s, which Hadoop cannot read: choose one with a Hadoop class", c.Name())
	}
	return c, nil
}

// decoder decompresses the values or parts of one file. It keeps its buffers from one piece
// of data to the next, since a file may have a compressed value in each record.
type decoder struct {
	codec *compress.Codec
	src   bytes.Reader
	in    *bufio.Reader
	plain io.ReadCloser // decompressor of the previous data, or nil
}

// newDecoder returns a decoder for a header, nil for None.
func newDecoder(h *Header) (*decoder, error) {
	if h.Compression == None {
		return nil, nil
	}
	codec, err := codecOf(h.Codec)
	return &decoder{codec: codec, in: bufio.NewReader(nil)}, err
}

// decode appends the decompressed form of packed to dst. Beyond limit bytes it stops with
// errLong.
func (d *decoder) decode(dst, packed []byte, limit int) ([]byte, error) {
	d.src.Reset(packed)
	d.in.Reset(&d.src)
	if err := d.open(); err != nil {
		return dst, midway(err)
	}
	dst, err := appendAll(dst, d.plain, limit)
	return dst, midway(err)
}

// open begins to decompress. If possible, it reuses the decompressor of the previous data.
func (d *decoder) open() error {
	if ok, err := compress.ReuseFrames(d.plain, d.in); ok {
		return err
	}
	d.close()
	plain, err := d.codec.OpenFrames(d.in)
	if err == nil {
		d.plain = plain
	}
	return err
}

// close releases the decompressor. It has no effect on a nil decoder.
func (d *decoder) close() {
	if d != nil && d.plain != nil {
		d.plain.Close()
		d.plain = nil
	}
}

// midway turns io.EOF within a frame into io.ErrUnexpectedEOF. A plain io.EOF would
// otherwise look like the end of the file.
func midway(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendAll appends the content of r to dst, which grows as data arrives. It reads at most
// one buffer beyond the limit, so data that expands to very much takes little memory.
func appendAll(dst []byte, r io.Reader, limit int) ([]byte, error) {
	const growth = 512
	end := len(dst) + limit
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, make([]byte, growth)...)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		switch {
		case len(dst) > end:
			return dst, errLong
		case err == io.EOF:
			return dst, nil
		case err != nil:
			return dst, err
		}
	}
}

// encoder appends the compressed form of src to dst.
type encoder func(dst, src []byte) ([]byte, error)

// newEncoder returns an encoder for a header, nil for None. It replaces a short name of a
// codec in h by the class, since the header stores classes.
func newEncoder(h *Header, level int) (encoder, error) {
	if h.Compression == None {
		h.Codec = ""
		return nil, nil
	}
	codec, err := codecOf(h.Codec)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(h.Codec, ".") {
		h.Codec = codec.Class()
	}
	return codec.FrameEncoder(level)
}
