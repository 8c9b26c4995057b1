package checkpoint

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/storage"
)

// A file is 8 bytes of magic, 4 of version, 4 of body length (both
// little-endian), a CheckpointBody, and the xxhash64 of all that in 8 bytes.
// docs/formats/checkpoint.md has the bytes.
const (
	magic      = "HAMMRCKP"
	version    = 2
	headLength = len(magic) + 4 + 4
	tailLength = 8
	maxLength  = 1 << 30 // bytes
)

// Encode returns a checkpoint file with the body.
func Encode(body *taskproc.CheckpointBody) ([]byte, error) {
	b := append(make([]byte, 0, 1024), magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, body)
	if err != nil {
		return nil, fmt.Errorf("checkpoint encoding: %w", err)
	}
	if len(b) > maxLength {
		return nil, fmt.Errorf("checkpoint of %d bytes: more than %d", len(b), maxLength)
	}
	binary.LittleEndian.PutUint32(b[len(magic)+4:], uint32(len(b)-headLength))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)), nil
}

// Decode verifies and decodes a checkpoint file. An invalid file wraps
// storage.ErrCorrupt.
func Decode(b []byte) (*taskproc.CheckpointBody, error) {
	if len(b) < headLength+tailLength || string(b[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: no checkpoint", storage.ErrCorrupt)
	}
	if v := binary.LittleEndian.Uint32(b[len(magic):]); v != version {
		return nil, fmt.Errorf("checkpoint of version %d: this binary reads version %d", v, version)
	}
	length := int(binary.LittleEndian.Uint32(b[len(magic)+4:]))
	if length != len(b)-headLength-tailLength {
		return nil, fmt.Errorf("%w: checkpoint body of %d bytes in a file of %d", storage.ErrCorrupt, length, len(b))
	}
	content, sum := b[:len(b)-tailLength], binary.LittleEndian.Uint64(b[len(b)-tailLength:])
	if xxhash.Sum64(content) != sum {
		return nil, fmt.Errorf("%w: checkpoint checksum", storage.ErrCorrupt)
	}
	body := new(taskproc.CheckpointBody)
	if err := proto.Unmarshal(content[headLength:], body); err != nil {
		return nil, fmt.Errorf("%w: checkpoint body: %v", storage.ErrCorrupt, err)
	}
	return body, nil
}
