package seqfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/hammr/hammr/internal/format/compress"
)

// errLong means that the decompressed data is longer than allowed.
var errLong = errors.New("more data than announced")

// codecOf is the codec of a header: a Java class, or a short name in the options of a Writer. A
// codec without a class of Hadoop is refused, because no Hadoop reader could open the file.
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

// decoder decompresses the values or parts of one file.
// It keeps its buffers from one piece of data to the next, since a file may have a compressed
// value in each record.
type decoder struct {
	codec *compress.Codec
	src   bytes.Reader
	in    *bufio.Reader
	plain io.ReadCloser // nil, or of the data before
}

// newDecoder is nil for None.
func newDecoder(h *Header) (*decoder, error) {
	if h.Compression == None {
		return nil, nil
	}
	codec, err := codecOf(h.Codec)
	return &decoder{codec: codec, in: bufio.NewReader(nil)}, err
}

// decode appends what packed holds to dst. Beyond limit bytes it stops with
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

// open begins to decompress, with the reader of the data before if it can.
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

// midway turns an end of the data within a frame into an unexpected end. A clean io.EOF would
// otherwise look like the end of the file.
func midway(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// appendAll appends r to dst, growing as data comes.
// It reads at most one buffer beyond the limit, so data that decompresses to very much takes
// little memory.
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

// newEncoder is nil for None. A codec in h that is a short name becomes a class, which is what
// the header stores; one that is a class stays as it is.
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
