package shuffle

import (
	"context"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/hammr/hammr/storage"
)

// runVerifier verifies the bytes of a run as they pass: the checksum of every block, and the
// checksum of the run. It does not decode the records. It is an io.Writer, whose calls may
// divide the bytes anywhere.
//
//	take: header, 24 bytes ─► payload, h.stored bytes ─┐
//	        ▲──────────────────────────────────────────┘
//
// After an error it must not be used any more.
type runVerifier struct {
	run    Run   // description to compare the bytes with
	seen   int64 // number of bytes of the run so far
	counts blockCounts
	head   [blockHeaderSize]byte
	inHead int    // number of bytes in head
	left   int    // number of payload bytes that are missing
	crc    uint32 // CRC32C of the payload so far
	want   uint32 // CRC32C of the payload according to its header
}

// Write verifies the next bytes. An error gives the offset of the damage in the run.
func (v *runVerifier) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 {
		used, err := v.take(b)
		if err != nil {
			return n - len(b), err
		}
		v.seen += int64(used)
		b = b[used:]
	}
	return n, nil
}

// take consumes the front of b: part of a header, or of a payload.
func (v *runVerifier) take(b []byte) (int, error) {
	if v.left > 0 {
		some := b[:min(len(b), v.left)]
		v.crc = crc32.Update(v.crc, castagnoli, some)
		v.left -= len(some)
		if v.left == 0 && v.crc != v.want {
			return 0, fmt.Errorf("%w: block that ends %d bytes into the run does not match its checksum",
				storage.ErrCorrupt, v.seen+int64(len(some)))
		}
		return len(some), nil
	}
	n := copy(v.head[v.inHead:], b)
	v.inHead += n
	if v.inHead < blockHeaderSize {
		return n, nil
	}
	h, err := parseBlockHeader(v.head[:], v.run.Length-v.seen-int64(n))
	if err != nil {
		return 0, fmt.Errorf("%w, %d bytes into the run", err, v.seen)
	}
	v.counts.add(&h, v.head[:])
	v.inHead, v.left, v.crc, v.want = 0, h.stored, 0, h.crc
	return n, nil
}

// finish verifies the run as a whole.
func (v *runVerifier) finish() error {
	if v.seen != v.run.Length || v.inHead > 0 || v.left > 0 {
		return fmt.Errorf("%w: run of %d bytes ends after %d", storage.ErrCorrupt, v.run.Length, v.seen)
	}
	return v.counts.matches(v.run)
}

// VerifyRun reads a run and compares it with its checksums and its entry in the index. A
// mismatch wraps storage.ErrCorrupt.
func VerifyRun(ctx context.Context, r io.Reader, run Run) error {
	v := runVerifier{run: run}
	buf := growPooled(nil, readBufferSize)
	defer putPooled(buf)
	for left := run.Length; left > 0; {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		b := (*buf)[:min(int64(len(*buf)), left)]
		n, err := io.ReadFull(r, b)
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return fmt.Errorf("%w: run of %d bytes ends after %d", storage.ErrCorrupt, run.Length, run.Length-left+int64(n))
		}
		if err != nil {
			return err
		}
		if _, err := v.Write(b); err != nil {
			return err
		}
		left -= int64(len(b))
	}
	return v.finish()
}
