package shuffle

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/internal/data/poison"
	"github.com/hammr/hammr/storage"
)

const (
	// writeSize is how many bytes are collected before they are written.
	writeSize = 128 << 10
	// writeBuffer is the capacity of the buffer: writeSize bytes and one more block.
	writeBuffer = writeSize + blockRaw + 2*blockHeaderSize
	// writeKept is the largest buffer that is kept after a long record.
	writeKept = 4 << 20
)

// dataWriter writes runs to a data file, one after another. It builds the open block at the
// end of the write buffer, so that a record is copied only once:
//
//	buf: | finished blocks … | header of the open block | its records … |
//	                         ^ block
//
// A writer receives these calls for each run:
//
//	beginRun ─► add, addPair or addTagged … ─► endRun ─► beginRun or close
//
// After the first error, the writer drops all further records. So callers check err once per
// run and not once per record.
type dataWriter struct {
	ctx    context.Context // when it ends, the next flush fails; each spill sets its own
	path   string          // path of the file, for errors
	out    storage.Writer
	hash   *xxhash.Digest // hash of all bytes written, for the index
	comp   compressor     // compresses the blocks
	buf    []byte
	block  int   // start of the open block in buf
	count  int   // records in the open block
	done   int64 // bytes of the file that precede buf
	run    Run   // the run being written
	flags  uint8 // flags of the run's blocks
	poison bool  // overwrite the buffer once it has been written
	err    error // first error
}

// createData creates a data file. A writer that is not closed must be aborted.
func createData(ctx context.Context, fsys storage.FS, path string, codec Codec) (*dataWriter, error) {
	out, err := fsys.Create(ctx, path, storage.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("data file %s: %w", path, err)
	}
	return &dataWriter{
		ctx: ctx, path: path, out: out,
		hash: xxhash.New(),
		comp: compressor{codec: codec},
		buf:  make([]byte, 0, writeBuffer),
	}, nil
}

// beginRun starts a run. ranks is the table of a tagged run, nil for others.
func (w *dataWriter) beginRun(ranks []rank) {
	w.run = Run{Offset: w.done + int64(len(w.buf)), Tagged: ranks != nil}
	w.flags = 0
	w.openBlock()
	if ranks == nil {
		return
	}
	w.flags = flagRanks
	table := appendRanks(nil, ranks)
	copy(w.reserve(len(table)), table)
	w.count = len(ranks)
	w.sealBlock()
	w.run.Records, w.run.RawLength = 0, 0
	w.flags = flagTagged
	w.openBlock()
}

// endRun ends the run and returns its description.
func (w *dataWriter) endRun() Run {
	if w.count > 0 {
		w.sealBlock()
	} else {
		w.buf = w.buf[:w.block]
	}
	w.run.Length = w.done + int64(len(w.buf)) - w.run.Offset
	return w.run
}

// reserve returns space for a record of n bytes in the open block, which the caller fills. A
// record that does not fit begins a new block. For a record that is too long, it fails and
// returns nil.
func (w *dataWriter) reserve(n int) []byte {
	at := len(w.buf)
	if at+n > w.block+blockHeaderSize+blockRaw || at+n > cap(w.buf) {
		if !w.ensureSpace(n) {
			return nil
		}
		at = len(w.buf)
	}
	w.buf = w.buf[:at+n]
	w.count++
	return w.buf[at : at+n : at+n]
}

// add writes an encoded record.
func (w *dataWriter) add(record []byte) { copy(w.reserve(len(record)), record) }

// space returns how many bytes of records the open block can still take.
func (w *dataWriter) space() int {
	return min(w.block+blockHeaderSize+blockRaw, cap(w.buf)) - len(w.buf)
}

// addAll writes n encoded records, for which the open block has space.
func (w *dataWriter) addAll(records []byte, n int) {
	w.buf = append(w.buf, records...)
	w.count += n
}

// addPair writes a record.
func (w *dataWriter) addPair(key, value []byte) {
	if dst := w.reserve(recordLen(len(key), len(value))); dst != nil {
		putRecord(dst, key, value)
	}
}

// addTagged writes an encoded record to a tagged run.
func (w *dataWriter) addTagged(tag int, record []byte) {
	t := uvarintLen(tag)
	if dst := w.reserve(t + len(record)); dst != nil {
		binary.PutUvarint(dst, uint64(tag))
		copy(dst[t:], record)
	}
}

// longest returns the length of the longest record that the run may have. A record without a
// tag leaves space for one, since a merge of runs adds it.
func (w *dataWriter) longest() int {
	if w.flags&flagTagged != 0 {
		return maxBlockRaw
	}
	return maxBlockRaw - maxTagSize
}

// ensureSpace ends the open block if it is full, and grows the buffer for a record that is
// longer than a block. It fails and returns false if the record is too long for any block.
func (w *dataWriter) ensureSpace(n int) bool {
	if n > w.longest() {
		w.fail(fmt.Errorf("record of %d bytes: longer than %d", n, w.longest()))
		return false
	}
	if w.count > 0 {
		w.sealBlock()
		w.openBlock()
	}
	if need := len(w.buf) + n; need > cap(w.buf) {
		larger := make([]byte, len(w.buf), need+writeBuffer)
		copy(larger, w.buf)
		w.buf = larger
	}
	return true
}

// openBlock reserves space for a header and a block after it. It first writes the buffer if
// the buffer holds writeSize bytes.
func (w *dataWriter) openBlock() {
	if len(w.buf) >= writeSize || cap(w.buf)-len(w.buf) < blockHeaderSize+blockRaw {
		w.flush()
	}
	w.block, w.count = len(w.buf), 0
	w.buf = w.buf[:w.block+blockHeaderSize]
}

// sealBlock compresses the open block in place and writes its header. It adds the block to
// the counts of the run, and the header to the run's checksum.
func (w *dataWriter) sealBlock() {
	raw := w.buf[w.block+blockHeaderSize:]
	stored, codec := w.comp.compress(raw)
	h := blockHeader{
		codec: codec, flags: w.flags, stored: len(stored), raw: len(raw), records: w.count,
		crc: crc32.Checksum(stored, castagnoli),
	}
	if codec != None {
		w.buf = w.buf[:w.block+blockHeaderSize+copy(raw, stored)]
	}
	head := w.buf[w.block : w.block+blockHeaderSize]
	h.put(head)
	w.run.Checksum = crc32.Update(w.run.Checksum, castagnoli, head)
	w.run.Records += int64(h.records)
	w.run.RawLength += int64(h.raw)
	w.block, w.count = len(w.buf), 0
}

// flush writes the buffer, which must have finished blocks only. A buffer that a long record
// has grown is replaced, so that one record does not cost memory for ever.
func (w *dataWriter) flush() {
	if w.err == nil {
		w.fail(context.Cause(w.ctx))
	}
	if w.err == nil {
		w.hash.Write(w.buf)
		_, err := w.out.Write(w.buf)
		w.fail(err)
	}
	if w.poison {
		poison.Fill(w.buf)
	}
	w.done += int64(len(w.buf))
	if cap(w.buf) > writeKept {
		w.buf = make([]byte, 0, writeBuffer)
	}
	w.buf = w.buf[:0]
}

// fail keeps the first error, and adds the name of the file if the error lacks it.
func (w *dataWriter) fail(err error) {
	if err == nil || w.err != nil {
		return
	}
	w.err = err
	if named := new(fs.PathError); !errors.As(err, &named) {
		w.err = fmt.Errorf("write %s: %w", w.path, err)
	}
}

// size returns the length of the file so far, in bytes.
func (w *dataWriter) size() int64 { return w.done + int64(len(w.buf)) }

// close writes what is buffered and completes the file. After an error the file is removed.
func (w *dataWriter) close() error {
	w.flush()
	if w.err == nil {
		w.fail(w.out.Close())
	}
	if w.err != nil {
		return errors.Join(w.err, w.out.Abort())
	}
	return nil
}

// abort removes the file.
func (w *dataWriter) abort() error { return w.out.Abort() }
