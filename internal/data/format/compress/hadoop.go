package compress

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/snappy"
	"github.com/pierrec/lz4/v4"
)

// Magic bytes of the formats that share an extension with a Hadoop format.
var (
	lz4Magic    = []byte{0x04, 0x22, 0x4D, 0x18}
	snappyMagic = []byte("\xff\x06\x00\x00sNaPpY")
	s2Magic     = []byte("\xff\x06\x00\x00S2sTwO")
)

// snappyCodec writes Hadoop's blocks, and reads framed streams too, which other tools write
// with the same extension.
var snappyCodec = &Codec{
	name: "snappy", extension: ".snappy", classes: []string{"SnappyCodec"}, frameBytes: frameBytes,
	open: func(r *bufio.Reader) (io.ReadCloser, error) {
		if hasMagic(r, snappyMagic) || hasMagic(r, s2Magic) {
			return openS2(r)
		}
		return io.NopCloser(&hadoopReader{r: r, decode: decodeSnappy}), nil
	},
	encoder: func(int) (encoder, error) { return hadoopEncoder(appendSnappy), nil },
}

// lz4Codec writes frames, which the lz4 program reads and Hadoop does not.
var lz4Codec = &Codec{
	name: "lz4", extension: ".lz4", frameBytes: frameBytes, levels: [2]int{1, 9},
	open: openLZ4,
	encoder: func(level int) (encoder, error) {
		w := lz4.NewWriter(nil)
		err := w.Apply(lz4.ConcurrencyOption(1), lz4.BlockSizeOption(lz4.Block1Mb), lz4.CompressionLevelOption(lz4Level(level)))
		return streamEncoder(w), err
	},
}

// lz4HadoopCodec writes Hadoop's blocks.
var lz4HadoopCodec = &Codec{
	name: "lz4-hadoop", extension: ".lz4", classes: []string{"Lz4Codec"}, frameBytes: frameBytes,
	open:    openLZ4,
	encoder: func(int) (encoder, error) { return hadoopEncoder(lz4Appender()), nil },
}

// hasMagic reports whether the stream begins with these bytes, without consuming them.
func hasMagic(r *bufio.Reader, magic []byte) bool {
	head, _ := r.Peek(len(magic))
	return bytes.Equal(head, magic)
}

// openLZ4 reads lz4 frames or Hadoop's blocks. The first bytes of the file show which format
// it has.
func openLZ4(r *bufio.Reader) (io.ReadCloser, error) {
	if hasMagic(r, lz4Magic) {
		return io.NopCloser(&lz4Frames{r, lz4.NewReader(r)}), nil
	}
	return io.NopCloser(&hadoopReader{r: r, decode: decodeLZ4}), nil
}

// lz4Level converts levels 1 to 9 to the levels of the lz4 package; 0 is its fast mode.
func lz4Level(level int) lz4.CompressionLevel {
	if level == 0 {
		return lz4.Fast
	}
	return lz4.Level1 << (level - 1)
}

// lz4Frames reads one lz4 frame after another.
type lz4Frames struct {
	r *bufio.Reader
	z *lz4.Reader
}

// Read continues with the next frame when one ends.
func (f *lz4Frames) Read(p []byte) (int, error) {
	for {
		n, err := f.z.Read(p)
		if n > 0 || err != io.EOF {
			return n, unlessEOF(err)
		}
		if _, err := f.r.Peek(1); err != nil {
			return 0, err
		}
		f.z.Reset(f.r)
	}
}

// Hadoop's block format, as BlockCompressorStream writes it. A block is the length of its
// plain bytes, then chunks until that many bytes are decoded. A chunk is the length of its
// compressed bytes, and these bytes. Lengths are 4 bytes, big-endian.
//
//	00 00 00 0b  00 00 00 0d  0b 28 "hello world"     snappy, one block of one chunk
//
// Hadoop's decoders hold a chunk in 256 KiB, compressed and plain.
const (
	hadoopChunk    = 128 << 10 // plain bytes of a block that is written, with one chunk each
	maxHadoopBlock = 1 << 30   // plain bytes of a block that is read
)

// hadoopEncoder returns an encoder that makes a frame of blocks of one chunk. pack appends
// the compressed form of src to dst.
func hadoopEncoder(pack func(dst, src []byte) ([]byte, error)) encoder {
	return func(dst, src []byte) ([]byte, error) {
		if len(src) == 0 {
			return append(dst, 0, 0, 0, 0), nil
		}
		for len(src) > 0 {
			chunk := src[:min(len(src), hadoopChunk)]
			src = src[len(chunk):]
			dst = binary.BigEndian.AppendUint32(dst, uint32(len(chunk)))
			at := len(dst)
			packed, err := pack(append(dst, 0, 0, 0, 0), chunk)
			if err != nil {
				return nil, err
			}
			binary.BigEndian.PutUint32(packed[at:], uint32(len(packed)-at-4))
			dst = packed
		}
		return dst, nil
	}
}

// appendSnappy appends a raw snappy block.
func appendSnappy(dst, src []byte) ([]byte, error) {
	dst = growBy(dst, snappy.MaxEncodedLen(len(src)))
	packed := s2.EncodeSnappy(dst[len(dst):cap(dst)], src)
	return dst[:len(dst)+len(packed)], nil
}

// lz4Appender returns a function that appends a raw lz4 block.
func lz4Appender() func(dst, src []byte) ([]byte, error) {
	var c lz4.Compressor
	return func(dst, src []byte) ([]byte, error) {
		dst = growBy(dst, lz4.CompressBlockBound(len(src)))
		n, err := c.CompressBlock(src, dst[len(dst):cap(dst)])
		if err == nil && n == 0 {
			err = errors.New("lz4 block that does not fit its bound")
		}
		return dst[:len(dst)+n], err
	}
}

// growBy grows the capacity of dst by n bytes, and at least doubles it, so that many small
// blocks cost few copies.
func growBy(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	grown := make([]byte, len(dst), 2*len(dst)+n)
	copy(grown, dst)
	return grown
}

// hadoopReader reads Hadoop's block format.
type hadoopReader struct {
	r      *bufio.Reader
	decode func(dst, packed []byte, limit int) ([]byte, error)
	left   int // plain bytes of the block that are not decoded yet
	packed bytes.Buffer
	plain  []byte // buffer: plain bytes of the chunk
	unread []byte // unread part of plain
}

// Read implements io.Reader over the chunks.
func (h *hadoopReader) Read(p []byte) (int, error) {
	for len(h.unread) == 0 {
		if err := h.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, h.unread)
	h.unread = h.unread[n:]
	return n, nil
}

// next decodes a chunk, or reads the head of a block. The end of the file
// between blocks is io.EOF.
func (h *hadoopReader) next() error {
	if h.left == 0 {
		if _, err := h.r.Peek(1); err != nil {
			return err
		}
		n, err := h.length("block")
		h.left = n
		return err
	}
	n, err := h.length("chunk")
	if err != nil {
		return err
	}
	h.packed.Reset()
	if _, err := io.CopyN(&h.packed, h.r, int64(n)); err != nil {
		return unexpected(err)
	}
	if h.plain, err = h.decode(h.plain[:0], h.packed.Bytes(), h.left); err != nil {
		return err
	}
	h.unread = h.plain
	h.left -= len(h.plain)
	return nil
}

// length reads a length. A length above the largest that any writer makes means damaged
// data. It is refused before memory is allocated for it.
func (h *hadoopReader) length(what string) (int, error) {
	var b [4]byte
	if _, err := io.ReadFull(h.r, b[:]); err != nil {
		return 0, unexpected(err)
	}
	n := binary.BigEndian.Uint32(b[:])
	if n > maxHadoopBlock {
		return 0, fmt.Errorf("%s length %d is implausible", what, n)
	}
	return int(n), nil
}

// decodeSnappy decodes a raw snappy block of at most limit plain bytes. Three compressed
// bytes expand to at most 64, so a block that claims more is refused before memory is
// allocated for it.
func decodeSnappy(dst, packed []byte, limit int) ([]byte, error) {
	n, err := snappy.DecodedLen(packed)
	if err != nil {
		return nil, err
	}
	if n > limit || n > 22*len(packed)+64 {
		return nil, fmt.Errorf("chunk of %d plain bytes where %d are left", n, limit)
	}
	dst = growBy(dst, n)
	return snappy.Decode(dst[:n], packed)
}

// decodeLZ4 decodes a raw lz4 block of at most limit plain bytes. One compressed byte
// expands to at most 255, so a length in the file cannot cause a larger allocation.
func decodeLZ4(dst, packed []byte, limit int) ([]byte, error) {
	most := min(limit, 255*len(packed)+64)
	dst = growBy(dst, most)[:most]
	n, err := lz4.UncompressBlock(packed, dst)
	if err != nil {
		return nil, err
	}
	return dst[:n], nil
}
