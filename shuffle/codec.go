package shuffle

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/hammr/hammr/storage"
)

// Codec says how the blocks of a run are compressed. Each block names its own codec, so
// files of different codecs can be merged. A block that does not shrink is stored
// uncompressed.
type Codec uint8

// The codecs; their numbers are part of the format.
const (
	None Codec = iota
	S2
	Zstd
	LZ4
	codecCount
)

var codecNames = [codecCount]string{"none", "s2", "zstd", "lz4"}

// String returns the name as ParseCodec reads it.
func (c Codec) String() string {
	if c < codecCount {
		return codecNames[c]
	}
	return fmt.Sprintf("codec(%d)", uint8(c))
}

// hadoopCodecs maps Hadoop's class names, in lower case and without their package, to codecs
// of the same family. The format is Hammr's own, so the codec need not be the same.
var hadoopCodecs = map[string]Codec{
	"snappy":         S2,
	"snappycodec":    S2,
	"s2codec":        S2,
	"lz4codec":       LZ4,
	"zstandardcodec": Zstd,
	"zstdcodec":      Zstd,
	"defaultcodec":   Zstd,
	"deflatecodec":   Zstd,
	"gzipcodec":      Zstd,
	"bzip2codec":     Zstd,
}

// ParseCodec reads the name of a codec: none, s2, snappy, zstd, lz4, or the
// class name of one of Hadoop's codecs. "" is none.
func ParseCodec(name string) (Codec, error) {
	short := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	if short == "" {
		return None, nil
	}
	if c := slices.Index(codecNames[:], short); c >= 0 {
		return Codec(c), nil
	}
	if c, ok := hadoopCodecs[short]; ok {
		return c, nil
	}
	return None, fmt.Errorf("codec %q: unknown; use none, s2, snappy, zstd or lz4", name)
}

// maxRatio bounds how far a codec can shrink a block. A block that claims more is not
// decompressed. Blocks have about blockRaw bytes of records, so only a single long record
// comes near it.
const maxRatio = 1 << 16

// Encoders and decoders of zstd are shared, because several goroutines may call their
// one-shot methods.
var (
	zstdEncoder = sync.OnceValue(func() *zstd.Encoder {
		e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
		if err != nil {
			panic(fmt.Sprintf("shuffle: zstd encoder options refused: %v", err))
		}
		return e
	})
	zstdDecoder = sync.OnceValue(func() *zstd.Decoder {
		d, err := zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBlockRaw), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			panic(fmt.Sprintf("shuffle: zstd decoder options refused: %v", err))
		}
		return d
	})
)

// compressor compresses blocks for one writer. It keeps the state and the buffer that a
// codec needs from block to block.
type compressor struct {
	codec Codec
	lz4   lz4.Compressor
	buf   []byte // holds the result of the last compress
}

// compress returns the bytes to store for raw, and their codec. They are valid until the
// next call. If the compressed bytes are not shorter, or shrank more than readers accept,
// compress returns raw itself.
func (c *compressor) compress(raw []byte) ([]byte, Codec) {
	if c.codec == None {
		return raw, None
	}
	out := c.encode(raw)
	if len(out) == 0 || len(out) >= len(raw) || len(raw)/len(out) >= maxRatio {
		return raw, None
	}
	return out, c.codec
}

// encode returns raw compressed by the codec; empty if the codec cannot compress it.
func (c *compressor) encode(raw []byte) []byte {
	switch c.codec {
	case S2:
		bound := s2.MaxEncodedLen(len(raw))
		if bound < 0 {
			return nil
		}
		c.buf = grow(c.buf, bound)
		return s2.Encode(c.buf, raw)
	case LZ4:
		c.buf = grow(c.buf, lz4.CompressBlockBound(len(raw)))
		n, err := c.lz4.CompressBlock(raw, c.buf)
		if err != nil {
			return nil
		}
		return c.buf[:n]
	case Zstd:
		c.buf = zstdEncoder().EncodeAll(raw, c.buf[:0])
		return c.buf
	}
	return nil
}

// decompress decodes stored into dst, whose length must be the block's raw length.
func decompress(codec Codec, dst, stored []byte) error {
	n, err := decode(codec, dst, stored)
	if err != nil {
		return fmt.Errorf("%w: %v block: %v", storage.ErrCorrupt, codec, err)
	}
	if n != len(dst) {
		return fmt.Errorf("%w: %v block has %d bytes instead of %d", storage.ErrCorrupt, codec, n, len(dst))
	}
	return nil
}

// decode decodes stored into dst and returns the decoded length. It never writes beyond dst,
// so a damaged length in a header cannot cause an allocation.
func decode(codec Codec, dst, stored []byte) (int, error) {
	switch codec {
	case S2:
		if n, err := s2.DecodedLen(stored); err != nil || n != len(dst) {
			return n, err
		}
		out, err := s2.Decode(dst, stored)
		return len(out), err
	case LZ4:
		return lz4.UncompressBlock(stored, dst)
	case Zstd:
		out, err := zstdDecoder().DecodeAll(stored, dst[:0:len(dst)])
		return len(out), err
	}
	return 0, fmt.Errorf("codec %d is unknown", codec)
}

// grow returns a slice of n bytes: b itself if it is large enough. The content of b is lost.
func grow(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n+n/8)[:n]
	}
	return b[:n]
}
