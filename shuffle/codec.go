package shuffle

import (
	"fmt"
	"strings"
)

// Codec says how the blocks of a run are compressed. A block that does not shrink is stored
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
	for c, n := range codecNames {
		if short == n {
			return Codec(c), nil
		}
	}
	if c, ok := hadoopCodecs[short]; ok {
		return c, nil
	}
	return None, fmt.Errorf("codec %q: unknown; use none, s2, snappy, zstd or lz4", name)
}
