package tasknode

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
	"google.golang.org/protobuf/proto"

	"github.com/hammr/hammr/internal/failpoint"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/shuffle"
)

// A record stands beside the directory of each attempt whose files are wanted
// after its end: it holds the attempt's last report, so that a node that is
// started again knows what it has. It is 8 bytes of magic, 4 of version, 4 of
// body length (both little-endian), a Report, and the xxhash64 of all that in 8
// bytes. docs/formats/held.md has the bytes.
const (
	heldMagic   = "HAMMRHLD"
	heldVersion = 1
	heldHead    = len(heldMagic) + 4 + 4
	heldTail    = 8
	maxHeld     = 64 << 20 // bytes
	heldSuffix  = ".held"  // after the attempt's id
)

// errHeld marks a record, or the files that it speaks of, as of no use.
var errHeld = errors.New("tasknode: not what an attempt has left")

// isWanted reports whether the local files of an attempt are wanted after its
// last report: segments and checkpoints are, what a reduce has merged is not.
func isWanted(last *wire.Report) bool {
	return last.GetPaused() != nil || len(segmentsOf(last)) > 0
}

// segmentsOf are the outputs that lie in the attempt's directory.
func segmentsOf(last *wire.Report) (here []*taskproc.MapOutput) {
	for _, o := range last.GetDone().GetOutputs() {
		if !o.Stored {
			here = append(here, o)
		}
	}
	return here
}

// writeHeld writes the record of an attempt whose files are in dir. It is there
// as a whole or not at all.
func writeHeld(dir string, last *wire.Report) error {
	encoded, err := encodeHeld(last)
	if err != nil {
		return err
	}
	path := dir + heldSuffix
	if err := failpoint.Disk(context.Background(), "write", path); err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp", encoded, 0o600); err != nil {
		return errors.Join(err, os.RemoveAll(path+".tmp"))
	}
	return os.Rename(path+".tmp", path)
}

func encodeHeld(last *wire.Report) ([]byte, error) {
	b := append(make([]byte, 0, 1024), heldMagic...)
	b = binary.LittleEndian.AppendUint32(b, heldVersion)
	b = binary.LittleEndian.AppendUint32(b, 0)
	b, err := proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, last)
	if err != nil {
		return nil, fmt.Errorf("encoding of a last report: %w", err)
	}
	if len(b) > maxHeld-heldTail {
		return nil, fmt.Errorf("last report of %d bytes: more than %d", len(b), maxHeld)
	}
	binary.LittleEndian.PutUint32(b[len(heldMagic)+4:], uint32(len(b)-heldHead))
	return binary.LittleEndian.AppendUint64(b, xxhash.Sum64(b)), nil
}

// decodeHeld verifies and reads a record. What does not verify wraps errHeld.
func decodeHeld(b []byte) (*wire.Report, error) {
	if len(b) < heldHead+heldTail || string(b[:len(heldMagic)]) != heldMagic {
		return nil, fmt.Errorf("%w: no record", errHeld)
	}
	if v := binary.LittleEndian.Uint32(b[len(heldMagic):]); v != heldVersion {
		return nil, fmt.Errorf("%w: record of version %d; this program reads version %d", errHeld, v, heldVersion)
	}
	content, sum := b[:len(b)-heldTail], binary.LittleEndian.Uint64(b[len(b)-heldTail:])
	if length := uint64(binary.LittleEndian.Uint32(b[len(heldMagic)+4:])); length != uint64(len(content)-heldHead) {
		return nil, fmt.Errorf("%w: body of %d bytes in a record of %d", errHeld, length, len(b))
	}
	if xxhash.Sum64(content) != sum {
		return nil, fmt.Errorf("%w: checksum of the record", errHeld)
	}
	last := new(wire.Report)
	if err := proto.Unmarshal(content[heldHead:], last); err != nil {
		return nil, fmt.Errorf("%w: body of the record: %w", errHeld, err)
	}
	return last, nil
}

// readHeld reads the record at path.
func readHeld(path string) (*wire.Report, error) {
	b, err := readBounded(path, maxHeld)
	if err != nil {
		return nil, err
	}
	return decodeHeld(b)
}

func readBounded(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	return io.ReadAll(io.LimitReader(f, limit))
}

// checkHeld reports why the files that a record speaks of are not all in the
// directory of its attempt as the attempt left them. Bytes of segments are not
// read: who fetches them checks them.
func checkHeld(dir string, last *wire.Report) error {
	if last.AttemptId != filepath.Base(dir) || !isWanted(last) {
		return fmt.Errorf("%w: record of %q at %s", errHeld, last.AttemptId, dir)
	}
	if p := last.GetPaused(); p != nil {
		return checkSize(dir, p.Checkpoint.GetPath(), p.Checkpoint.GetBytes())
	}
	for _, o := range segmentsOf(last) {
		if err := checkSegments(dir, o); err != nil {
			return err
		}
	}
	return nil
}

func checkSegments(dir string, o *taskproc.MapOutput) error {
	b, err := readBounded(shuffle.IndexPath(o.Path), maxIndex)
	if err != nil {
		return err
	}
	index, err := shuffle.DecodeIndex(b)
	if err != nil {
		return fmt.Errorf("%w: index of %s: %w", errHeld, o.Path, err)
	}
	if index.Checksum != o.IndexChecksum {
		return fmt.Errorf("%w: index of %s has checksum %x, was %x", errHeld, o.Path, index.Checksum, o.IndexChecksum)
	}
	return checkSize(dir, o.Path, index.DataLength)
}

// maxIndex bounds the index files that are read, in bytes.
const maxIndex = 1 << 30

func checkSize(dir, path string, size int64) error {
	if filepath.Dir(path) != dir {
		return fmt.Errorf("%w: %s does not lie in %s", errHeld, path, dir)
	}
	switch info, err := os.Lstat(path); {
	case err != nil:
		return err
	case !info.Mode().IsRegular() || info.Size() != size:
		return fmt.Errorf("%w: %s has %d bytes, had %d", errHeld, path, info.Size(), size)
	}
	return nil
}
