package compress

import (
	"bufio"
	"bytes"
	stdbzip2 "compress/bzip2"
	"errors"
	"io"

	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// gzipCodec writes members without name and time, so that the same records give the same bytes.
var gzipCodec = &Codec{
	name: "gzip", extension: ".gz", classes: []string{"GzipCodec"}, aliases: []string{"gz"},
	frameBytes: frameBytes, levels: [2]int{1, 9},
	open: openGzip,
	encoder: func(level int) (encoder, error) {
		w, err := gzip.NewWriterLevel(nil, orDefault(level, gzip.DefaultCompression))
		return streamEncoder(w), err
	},
}

// deflateCodec writes zlib streams: Hadoop's DefaultCodec, despite its extension.
var deflateCodec = &Codec{
	name: "deflate", extension: ".deflate", classes: []string{"DeflateCodec", "DefaultCodec"},
	aliases: []string{"default", "zlib"}, frameBytes: frameBytes, levels: [2]int{1, 9},
	open: func(r *bufio.Reader) (io.ReadCloser, error) {
		z, err := zlib.NewReader(r)
		return &zlibReader{r, z}, err
	},
	encoder: func(level int) (encoder, error) {
		w, err := zlib.NewWriterLevel(nil, orDefault(level, zlib.DefaultCompression))
		return streamEncoder(w), err
	},
}

// bzip2Codec is the only codec whose files can be split: package bzip2 finds its blocks. A
// Reader of a file uses that package, too; open is for the small pieces of a SequenceFile.
var bzip2Codec = &Codec{
	name: "bzip2", extension: ".bz2", classes: []string{"BZip2Codec"}, aliases: []string{"bz2"},
	frameBytes: bzip2FrameBytes, levels: [2]int{1, 9},
	open: func(r *bufio.Reader) (io.ReadCloser, error) { return io.NopCloser(stdbzip2.NewReader(r)), nil },
	encoder: func(level int) (encoder, error) {
		w, err := bzip2.NewWriter(io.Discard, &bzip2.WriterConfig{Level: orDefault(level, 9)})
		return streamEncoder(bzip2Writer{w}), err
	},
}

// s2Codec is for data that stays within Hammr: fast, but unknown to Hadoop.
var s2Codec = &Codec{
	name: "s2", extension: ".s2", frameBytes: frameBytes, levels: [2]int{1, 3},
	open: openS2,
	encoder: func(level int) (encoder, error) {
		return streamEncoder(s2.NewWriter(nil, append(s2Level(level), s2.WriterConcurrency(1))...)), nil
	},
}

// snappyFramedCodec writes snappy's own framing format, which Hadoop does not read.
var snappyFramedCodec = &Codec{
	name: "snappy-framed", extension: ".sz", aliases: []string{"sz"}, frameBytes: frameBytes,
	open: openS2,
	encoder: func(int) (encoder, error) {
		return streamEncoder(s2.NewWriter(nil, s2.WriterSnappyCompat(), s2.WriterConcurrency(1))), nil
	},
}

// zstdCodec writes frames with a checksum. The window of a reader is limited, see zstdWindow.
var zstdCodec = &Codec{
	name: "zstd", extension: ".zst", classes: []string{"ZStandardCodec"}, aliases: []string{"zstandard", "zst"},
	frameBytes: frameBytes, levels: [2]int{1, 22},
	open: func(r *bufio.Reader) (io.ReadCloser, error) {
		d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	},
	encoder: func(level int) (encoder, error) {
		w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true),
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(orDefault(level, 3))))
		return func(dst, src []byte) ([]byte, error) { return w.EncodeAll(src, dst), nil }, err
	},
}

// zstdWindow is the largest window that a reader accepts, as in the zstd program without
// --long. It bounds the memory that a frame can make a reader allocate. A frame with a
// larger window is an error.
const zstdWindow = 128 << 20

// orDefault replaces level 0, which in some packages means no compression, by other.
func orDefault(level, other int) int {
	if level == 0 {
		return other
	}
	return level
}

// openS2 reads framed s2 and framed snappy, which differ in a header that the package
// understands. A reader may skip chunks of the types 0x80 to 0xfd, but the first two are
// refused: no program writes them, and one flipped bit turns a chunk of data (0x00 or 0x01)
// into them.
func openS2(r *bufio.Reader) (io.ReadCloser, error) {
	refuse := func(io.Reader) error { return errors.New("chunk of a type that no program writes") }
	return io.NopCloser(s2.NewReader(r, s2.ReaderSkippableCB(0x80, refuse), s2.ReaderSkippableCB(0x81, refuse))), nil
}

// s2Level converts levels 1 to 3.
func s2Level(level int) []s2.WriterOption {
	switch level {
	case 2:
		return []s2.WriterOption{s2.WriterBetterCompression()}
	case 3:
		return []s2.WriterOption{s2.WriterBestCompression()}
	}
	return nil
}

// resetter is a compressor that can begin a new frame.
type resetter interface {
	io.WriteCloser
	Reset(io.Writer)
}

// streamEncoder returns an encoder that makes each frame a whole stream of w. The compressor
// is reset for each frame and keeps its tables.
func streamEncoder(w resetter) encoder {
	return func(dst, src []byte) ([]byte, error) {
		out := bytes.NewBuffer(dst)
		w.Reset(out)
		if _, err := w.Write(src); err != nil {
			return nil, err
		}
		err := w.Close()
		return out.Bytes(), err
	}
}

// bzip2Writer drops the error that dsnet's Reset returns, which is always nil.
type bzip2Writer struct{ *bzip2.Writer }

func (w bzip2Writer) Reset(to io.Writer) { _ = w.Writer.Reset(to) }

// gzipMembers reads one gzip member after another. As the gzip program does, it accepts zero
// padding behind the last member: tapes and some disks round the length of a file up.
type gzipMembers struct {
	r *bufio.Reader
	z *gzip.Reader
}

func openGzip(r *bufio.Reader) (io.ReadCloser, error) {
	g := &gzipMembers{r, new(gzip.Reader)}
	return g, g.reset(r)
}

// reset begins with the first member of r.
func (g *gzipMembers) reset(r *bufio.Reader) error {
	g.r = r
	err := g.z.Reset(r)
	g.z.Multistream(false)
	return err
}

// Read continues with the next member when one ends.
func (g *gzipMembers) Read(p []byte) (int, error) {
	for {
		n, err := g.z.Read(p)
		if n > 0 || err != io.EOF {
			return n, unlessEOF(err)
		}
		if err := skipPadding(g.r); err != nil {
			return 0, err
		}
		if !hasMagic(g.r, gzipMagic) {
			return 0, errPadding
		}
		if err := g.reset(g.r); err != nil {
			return 0, unexpected(err)
		}
	}
}

func (g *gzipMembers) Close() error { return g.z.Close() }

var (
	gzipMagic  = []byte{0x1F, 0x8B}
	errPadding = errors.New("neither a member nor zero padding up to the end of the file")
)

// skipPadding returns io.EOF if r has only zero bytes up to its end, and nil if its first byte
// is not zero.
func skipPadding(r *bufio.Reader) error {
	for at := 0; ; at++ {
		b, err := r.Peek(1)
		switch {
		case err != nil:
			return err
		case b[0] != 0 && at == 0:
			return nil
		case b[0] != 0:
			return errPadding
		}
		r.Discard(1)
	}
}

// zlibReader reads one zlib stream after another.
type zlibReader struct {
	r *bufio.Reader
	z io.ReadCloser
}

// Read continues with the next stream when one ends, as Hadoop's decompressor stream does.
func (z *zlibReader) Read(p []byte) (int, error) {
	for {
		n, err := z.z.Read(p)
		if n > 0 || err != io.EOF {
			return n, unlessEOF(err)
		}
		if _, err := z.r.Peek(1); err != nil {
			return 0, err
		}
		if err := z.z.(zlib.Resetter).Reset(z.r, nil); err != nil {
			return 0, unexpected(err)
		}
	}
}

func (z *zlibReader) Close() error { return z.z.Close() }

// unlessEOF drops io.EOF, which ends a frame but perhaps not the file.
func unlessEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// unexpected returns err, but io.ErrUnexpectedEOF for io.EOF: the stream has ended within a
// frame.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
