package seqfile

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"github.com/hammr/hammr/internal/data/format/writable"
)

const (
	magic   = "SEQ"
	version = 6

	// syncEscape is the number that marks have in place of a record's length.
	syncEscape = 0xFFFFFFFF
	syncSize   = 16
	// markSize is the size of an escape and the sync mark.
	markSize = 4 + syncSize
	// maxName is the length above which a class name or metadata text counts as damage.
	maxName = 1 << 20
)

// Compression is the kind of compression of a file.
type Compression int

// The kinds of compression.
const (
	None   Compression = iota // nothing is compressed
	Record                    // each value is compressed
	Block                     // keys and values of many records are compressed together
)

// String returns the name that the property uses.
func (c Compression) String() string {
	return [...]string{"NONE", "RECORD", "BLOCK"}[c]
}

// ParseCompression parses a value of mapreduce.output.fileoutputformat.compress.type. Letter
// case matters, as in Java's CompressionType.valueOf.
func ParseCompression(name string) (Compression, error) {
	for c := None; c <= Block; c++ {
		if c.String() == name {
			return c, nil
		}
	}
	return None, fmt.Errorf("compression type %q: NONE, RECORD or BLOCK expected", name)
}

// Header is the header of a SequenceFile, as SequenceFile.Writer.writeFileHeader writes it:
//
//	"SEQ" 06
//	Text key class     Text value class     length as a vint, then UTF-8
//	boolean compressed boolean blocks       one byte each
//	Text codec class                        only if compressed
//	int32 n  ( Text key  Text value ) × n   metadata
//	sync[16]
//
// A reader searches for the sync mark. It is chosen so that it hardly occurs in data.
type Header struct {
	KeyClass    string
	ValueClass  string
	Compression Compression
	Codec       string            // Java class name; "" for None
	Metadata    map[string]string // metadata of the user; nil for none
	Sync        [syncSize]byte    // the sync mark
}

// append writes the header as Hadoop does; metadata goes in order of its keys.
func (h *Header) append(dst []byte) []byte {
	dst = append(dst, magic...)
	dst = append(dst, version)
	dst = writable.String.Append(dst, h.KeyClass)
	dst = writable.String.Append(dst, h.ValueClass)
	dst = writable.Boolean.Append(dst, h.Compression != None)
	dst = writable.Boolean.Append(dst, h.Compression == Block)
	if h.Compression != None {
		dst = writable.String.Append(dst, h.Codec)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(h.Metadata)))
	for _, key := range slices.Sorted(maps.Keys(h.Metadata)) {
		dst = writable.String.Append(dst, key)
		dst = writable.String.Append(dst, h.Metadata[key])
	}
	return append(dst, h.Sync[:]...)
}

// readHeader reads the header at the start of src. Hadoop has written only version 6 for many
// years; a file of another version is refused.
func readHeader(src *source) (Header, error) {
	var h Header
	start, err := src.take(len(magic) + 1)
	if err != nil {
		return h, err
	}
	if string(start[:len(magic)]) != magic {
		return h, src.corrupt("not a SequenceFile")
	}
	if v := start[len(magic)]; v != version {
		return h, fmt.Errorf("%s: SequenceFile version %d, only %d is known", src.path, v, version)
	}
	if h.KeyClass, err = src.text(); err != nil {
		return h, err
	}
	if h.ValueClass, err = src.text(); err != nil {
		return h, err
	}
	if err = h.readCompression(src); err != nil {
		return h, err
	}
	if err = h.readMetadata(src); err != nil {
		return h, err
	}
	sync, err := src.take(syncSize)
	copy(h.Sync[:], sync)
	return h, err
}

// readCompression reads the two flags and, if the file is compressed, the codec. Blocks without
// compression do not exist in Hadoop either.
func (h *Header) readCompression(src *source) error {
	flags, err := src.take(2)
	if err != nil {
		return err
	}
	switch compressed, blocks := flags[0] != 0, flags[1] != 0; {
	case !compressed && blocks:
		return src.corrupt("blocks without compression")
	case !compressed:
		return nil
	case blocks:
		h.Compression = Block
	default:
		h.Compression = Record
	}
	h.Codec, err = src.text()
	return err
}

// readMetadata reads the entries. The map grows as entries are read, so a wrong count allocates
// nothing.
func (h *Header) readMetadata(src *source) error {
	word, err := src.word()
	if err != nil {
		return err
	}
	count := int32(word)
	if count < 0 {
		return src.corrupt("%d metadata entries", count)
	}
	for range count {
		key, err := src.text()
		if err != nil {
			return err
		}
		value, err := src.text()
		if err != nil {
			return err
		}
		if h.Metadata == nil {
			h.Metadata = map[string]string{}
		}
		h.Metadata[key] = value
	}
	return nil
}
