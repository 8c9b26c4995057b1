package seqfile

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/hammr/hammr/internal/data/format/writable"
)

// Hadoop's SequenceFile.SYNC_INTERVAL and io.seqfile.compress.blocksize, and the size of the
// buffer for the file.
const (
	defaultSyncInterval = 5 * 1024 * markSize
	defaultBlockSize    = 1_000_000
	writeBuffer         = 128 << 10
)

// Options describe a file to write.
type Options struct {
	// Header goes to the file. Sync must be set; SyncMark derives one. Codec
	// may be a short name, too.
	Header Header
	// Level is the codec's level of compression; 0 is its default.
	Level int
	// SyncInterval is the least number of bytes between two marks; 0 is Hadoop's 102,400.
	// Each compressed block has a mark.
	SyncInterval int64
	// BlockSize is the number of bytes of keys and values after which a block is written; 0
	// is Hadoop's 1,000,000 (io.seqfile.compress.blocksize).
	BlockSize int
	// Continue means that the file will be appended to a file with the same Header. It then
	// has no header, but a mark before the first record. Without records it is empty.
	Continue bool
}

// SyncMark returns a mark for a file. It depends only on the parts, which distinguish the
// file from all others (its job and its partition). Hadoop's marks are random. This mark
// makes the bytes of an output the same in each run, whichever attempt writes it.
func SyncMark(parts ...string) [16]byte {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return [syncSize]byte(sum[:syncSize])
}

// Writer writes a SequenceFile. Close finishes the format and leaves the file open. After an
// error the file is incomplete, and the Writer must not be used.
//
// A file can be written in pieces, by one Writer each, in two ways. Checkpoint ends a piece
// so that the joined pieces are byte for byte the file of a single Writer; the Writer of the
// next piece begins with Resume. With Options.Continue, a Writer needs no knowledge of the
// previous piece, and puts a mark between the two.
type Writer struct {
	out      *bufio.Writer
	o        Options
	codec    encoder // nil for None
	started  bool    // the header is written, or belongs to an earlier piece
	pos      int64   // bytes so far
	lastMark int64   // position behind the last mark; -1 if a mark must come first
	packed   []byte  // buffer for compressed data
	block    block
	lengths  [8]byte // buffer for the lengths of a record
}

// NewWriter returns a Writer to w. It writes nothing yet: the first record or Close writes
// the header, so that a resumed piece has no header.
func NewWriter(w io.Writer, o Options) (*Writer, error) {
	if o.Header.Sync == ([syncSize]byte{}) {
		return nil, errors.New("SequenceFile writer without a sync mark: derive one by SyncMark")
	}
	codec, err := newEncoder(&o.Header, o.Level)
	if err != nil {
		return nil, err
	}
	if o.SyncInterval == 0 {
		o.SyncInterval = defaultSyncInterval
	}
	if o.BlockSize == 0 {
		o.BlockSize = defaultBlockSize
	}
	s := &Writer{out: bufio.NewWriterSize(w, writeBuffer), o: o, codec: codec}
	if o.Continue {
		s.started, s.lastMark = true, -1
	}
	return s, nil
}

// start writes the header, unless it is written or belongs to an earlier piece.
func (w *Writer) start() error {
	if w.started {
		return nil
	}
	w.started = true
	return w.put(w.o.Header.append(nil))
}

// Write adds a record of Writable bytes. It copies what it keeps. Java cannot read a record
// above 2 GiB, so Write refuses one.
func (w *Writer) Write(key, value []byte) error {
	if int64(len(key))+int64(len(value)) > math.MaxInt32 {
		return fmt.Errorf("SequenceFile record of %d bytes, at most %d can be written", len(key)+len(value), math.MaxInt32)
	}
	if err := w.start(); err != nil {
		return err
	}
	switch w.o.Header.Compression {
	case Block:
		return w.writeToBlock(key, value)
	case Record:
		packed, err := w.codec(w.packed[:0], value)
		if err != nil {
			return err
		}
		w.packed, value = packed, packed
	}
	return w.writeRecord(key, value)
}

// writeRecord writes a record, and a mark before it if the last mark is far enough away.
func (w *Writer) writeRecord(key, value []byte) error {
	if w.lastMark < 0 || w.pos >= w.lastMark+w.o.SyncInterval {
		if err := w.mark(); err != nil {
			return err
		}
	}
	binary.BigEndian.PutUint32(w.lengths[:], uint32(len(key)+len(value)))
	binary.BigEndian.PutUint32(w.lengths[4:], uint32(len(key)))
	return w.put(w.lengths[:], key, value)
}

// mark writes a sync mark. It never writes two in a row, because Hadoop's reader takes the
// second for the end of the file.
func (w *Writer) mark() error {
	err := w.put([]byte{0xFF, 0xFF, 0xFF, 0xFF}, w.o.Header.Sync[:])
	w.lastMark = w.pos
	return err
}

// put writes bytes and counts them. The position decides where marks go.
func (w *Writer) put(parts ...[]byte) error {
	for _, p := range parts {
		n, err := w.out.Write(p)
		w.pos += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// Close writes the last block and flushes. A file without records has the header alone, which
// is a valid SequenceFile.
func (w *Writer) Close() error {
	if err := w.start(); err != nil {
		return err
	}
	if err := w.writeBlock(); err != nil {
		return err
	}
	return w.out.Flush()
}

// block has the records that will be compressed together. Keys, values and their lengths are
// kept apart, as in the file, because similar bytes next to each other compress better.
type block struct {
	count                                  int
	keyLengths, keys, valueLengths, values []byte
}

// writeToBlock adds a record to the block, and writes the block when it is full. If the
// record would make the block exceed the 2 GiB of Java's arrays, it writes the block first.
func (w *Writer) writeToBlock(key, value []byte) error {
	b := &w.block
	if int64(len(b.keys)+len(b.values)+len(key)+len(value)) > math.MaxInt32 {
		if err := w.writeBlock(); err != nil {
			return err
		}
	}
	b.count++
	b.keyLengths = writable.AppendVLong(b.keyLengths, int64(len(key)))
	b.keys = append(b.keys, key...)
	b.valueLengths = writable.AppendVLong(b.valueLengths, int64(len(value)))
	b.values = append(b.values, value...)
	if len(b.keys)+len(b.values) < w.o.BlockSize {
		return nil
	}
	return w.writeBlock()
}

// writeBlock writes the block, with a mark before it. An empty block is not written. The
// lengths precede the data so that a reader can skip keys without reading values.
func (w *Writer) writeBlock() error {
	b := &w.block
	if b.count == 0 {
		return nil
	}
	if err := w.mark(); err != nil {
		return err
	}
	if err := w.put(writable.AppendVLong(nil, int64(b.count))); err != nil {
		return err
	}
	for _, part := range [][]byte{b.keyLengths, b.keys, b.valueLengths, b.values} {
		if err := w.writePart(part); err != nil {
			return err
		}
	}
	b.count = 0
	b.keyLengths, b.keys = b.keyLengths[:0], b.keys[:0]
	b.valueLengths, b.values = b.valueLengths[:0], b.values[:0]
	return nil
}

// writePart compresses one of the four parts and writes its size and bytes.
func (w *Writer) writePart(data []byte) error {
	packed, err := w.codec(w.packed[:0], data)
	if err != nil {
		return err
	}
	w.packed = packed
	return w.put(writable.AppendVLong(nil, int64(len(packed))), packed)
}
