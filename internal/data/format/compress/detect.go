package compress

import (
	"bytes"
	"encoding/binary"
)

// signature is how the files of a compressor begin.
type signature struct {
	magic []byte
	name  string // with its article, for messages
	codec *Codec // nil if the files cannot be read
}

// signatures lists compressors and archivers whose files are never text.
// Brotli, deflate and raw blocks have no signature.
var signatures = []signature{
	{[]byte("\x1F\x8B\x08"), "a gzip", gzipCodec},
	{[]byte("\x28\xB5\x2F\xFD"), "a zstd", zstdCodec},
	{lz4Magic, "an lz4", lz4Codec},
	{snappyMagic, "a snappy", snappyFramedCodec},
	{s2Magic, "an s2", s2Codec},
	{[]byte("\xFD7zXZ\x00"), "an xz", nil},
	{[]byte("]\x00\x00"), "an lzma", nil},
	{[]byte("LZIP\x01"), "an lzip", nil},
	{[]byte("\x89LZO\x00\r\n\x1A\n"), "an lzop", nil},
	{[]byte("\x1F\x9D"), "a compress (.Z)", nil},
	{[]byte("PK\x03\x04"), "a zip", nil},
	{[]byte("7z\xBC\xAF\x27\x1C"), "a 7z", nil},
	{[]byte("Rar!\x1A\x07"), "a rar", nil},
}

// Marks that follow the header of a bzip2 file, which alone may be text.
const (
	bzip2Block = 0x314159265359
	bzip2End   = 0x177245385090
)

// SignatureBytes is the number of bytes that Detect needs.
const SignatureBytes = 10

// Detect returns the name of the compressor, with its article ("a gzip"), whose files begin as head does, and "" if there
// is none. The codec reads such files; it is nil if no codec does.
func Detect(head []byte) (name string, codec *Codec) {
	for _, s := range signatures {
		if bytes.HasPrefix(head, s.magic) {
			return s.name, s.codec
		}
	}
	if len(head) >= SignatureBytes && bytes.HasPrefix(head, []byte("BZh")) && '1' <= head[3] && head[3] <= '9' {
		if mark := binary.BigEndian.Uint64(head[2:10]) & (1<<48 - 1); mark == bzip2Block || mark == bzip2End {
			return "a bzip2", bzip2Codec
		}
	}
	return "", nil
}
