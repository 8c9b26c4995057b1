// Package sealed is the form of small files that have one message and are never changed:
//
//	0       8         12       16        16+length
//	| magic | version | length | message | xxhash64 |
//
// Numbers are little-endian; length is that of the message, and the xxhash64 covers all bytes before it. The message is
// protobuf. Checkpoints and the records of finished attempts are such files.
package sealed

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/storage"
)

const (
	magicLength = 8
	headLength  = magicLength + 4 + 4
	tailLength  = 8
)

// Format is one kind of file.
type Format struct {
	Name    string // in errors: "checkpoint"
	Magic   string // the first 8 bytes
	Version uint32
	Max     int // most bytes of a file
}

// Encode returns the file with a message. Equal messages give equal bytes.
func (f Format) Encode(m proto.Message) ([]byte, error) {
	b := append(make([]byte, 0, 1024), f.Magic...)
	b = binary.LittleEndian.AppendUint32(b, f.Version)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
	if err != nil {
		return nil, fmt.Errorf("encoding of a %s: %w", f.Name, err)
	}
	if len(b) > f.Max-tailLength {
		return nil, fmt.Errorf("%s of %d bytes: more than %d", f.Name, len(b), f.Max)
	}
	binary.LittleEndian.PutUint32(b[magicLength+4:], uint32(len(b)-headLength))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)), nil
}

// Decode verifies a file and decodes its message. For a damaged file the error wraps
// storage.ErrCorrupt. A file of another version is intact, so its error does not.
func (f Format) Decode(b []byte, into proto.Message) error {
	if len(b) < headLength+tailLength || string(b[:magicLength]) != f.Magic {
		return fmt.Errorf("%w: not a %s", storage.ErrCorrupt, f.Name)
	}
	if v := binary.LittleEndian.Uint32(b[magicLength:]); v != f.Version {
		return fmt.Errorf("%s of version %d; this program reads version %d", f.Name, v, f.Version)
	}
	content, sum := b[:len(b)-tailLength], binary.LittleEndian.Uint64(b[len(b)-tailLength:])
	if length := uint64(binary.LittleEndian.Uint32(b[magicLength+4:])); length != uint64(len(content)-headLength) {
		return fmt.Errorf("%w: %s with a message of %d bytes in a file of %d", storage.ErrCorrupt, f.Name, length, len(b))
	}
	if xxhash.Sum64(content) != sum {
		return fmt.Errorf("%w: %s does not match its checksum", storage.ErrCorrupt, f.Name)
	}
	if err := proto.Unmarshal(content[headLength:], into); err != nil {
		return fmt.Errorf("%w: message of a %s: %v", storage.ErrCorrupt, f.Name, err)
	}
	return nil
}
