package joblog

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/cespare/xxhash/v2"

	"github.com/hammr/hammr/storage"
)

// Index says where the logs lie in a file.
type Index struct{ logs map[key]entry }

// entry is the place of a log in its file.
type entry struct {
	offset, length int64 // bytes
	sum            uint64
}

// corrupt returns an error that wraps storage.ErrCorrupt.
func corrupt(format string, args ...any) error {
	return fmt.Errorf("file of logs: %s: %w", fmt.Sprintf(format, args...), storage.ErrCorrupt)
}

// ReadIndex reads the index of a file of size bytes, from its end. If the file is damaged or
// incomplete, the error wraps storage.ErrCorrupt.
func ReadIndex(file io.ReaderAt, size int64) (*Index, error) {
	if size < int64(len(magic)+footerSize) {
		return nil, corrupt("it has %d bytes, less than an empty one", size)
	}
	footer := make([]byte, footerSize)
	if err := readFull(file, footer, size-int64(footerSize)); err != nil {
		return nil, err
	}
	if string(footer[footerSize-len(magic):]) != magic {
		return nil, corrupt("it does not end with %s; it may be incomplete", magic)
	}
	if v := binary.LittleEndian.Uint32(footer[12:]); v != version {
		return nil, fmt.Errorf("file of logs of version %d; this program reads version %d", v, version)
	}
	length := binary.LittleEndian.Uint64(footer)
	if length > MaxIndex || int64(length) > size-int64(len(magic)+footerSize) {
		return nil, corrupt("index of %d bytes in a file of %d", length, size)
	}
	b := make([]byte, int(length)+footerSize)
	start := size - int64(len(b))
	if err := readFull(file, b, start); err != nil {
		return nil, err
	}
	checked := b[:len(b)-len(magic)-8]
	if xxhash.Sum64(checked) != binary.LittleEndian.Uint64(b[len(checked):]) {
		return nil, corrupt("checksum of the index")
	}
	return decodeIndex(b[:length], binary.LittleEndian.Uint32(footer[8:]), start)
}

// decodeIndex decodes the entries of n logs, which end at end.
func decodeIndex(b []byte, n uint32, end int64) (*Index, error) {
	if uint64(n) > uint64(len(b)/minEntry) {
		return nil, corrupt("%d logs in an index of %d bytes", n, len(b))
	}
	x := &Index{logs: make(map[key]entry, n)}
	offset := int64(len(magic))
	for range n {
		k, e, rest, ok := decodeEntry(b)
		if !ok || e.length < 0 || e.length > end-offset {
			return nil, corrupt("entry %d of the index", len(x.logs))
		}
		if _, twice := x.logs[k]; twice {
			return nil, corrupt("two logs %s of %s", k.stream, k.attempt)
		}
		e.offset = offset
		x.logs[k] = e
		offset, b = offset+e.length, rest
	}
	if len(b) > 0 || offset != end {
		return nil, corrupt("the index ends %d bytes early, the logs %d", len(b), end-offset)
	}
	return x, nil
}

// decodeEntry decodes the first entry of b, without the offset.
func decodeEntry(b []byte) (k key, e entry, rest []byte, ok bool) {
	if k.attempt, b, ok = decodeName(b); !ok {
		return k, e, nil, false
	}
	if k.stream, b, ok = decodeName(b); !ok {
		return k, e, nil, false
	}
	length, n := binary.Uvarint(b)
	if n <= 0 || len(b)-n < 8 {
		return k, e, nil, false
	}
	e.length, e.sum = int64(length), binary.LittleEndian.Uint64(b[n:])
	return k, e, b[n+8:], true
}

func decodeName(b []byte) (name string, rest []byte, ok bool) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length == 0 || length > maxName || uint64(len(b)-n) < length {
		return "", nil, false
	}
	return string(b[n : n+int(length)]), b[n+int(length):], true
}

// Place chooses a part of a log by the bytes that the log has.
type Place func(size int64) (offset, length int64)

// whole is the place of a log in itself.
func whole(size int64) (offset, length int64) { return 0, size }

// ReadPart reads a part of a log from the file of the index. size is how many bytes the log has. Only the whole
// log is checked, since its checksum is that of all bytes. If the file does not have the log, the error wraps
// ErrNotPrinted.
func (x *Index) ReadPart(file io.ReaderAt, attempt, stream string, place Place) (text []byte, offset, size int64, err error) {
	e, found := x.logs[key{attempt, stream}]
	if !found {
		return nil, 0, 0, fmt.Errorf("%s of %s: %w", stream, attempt, ErrNotPrinted)
	}
	offset, length := place(e.length)
	text = make([]byte, length)
	if err = readFull(file, text, e.offset+offset); err == nil && length == e.length && xxhash.Sum64(text) != e.sum {
		err = corrupt("checksum of the log at byte %d", e.offset)
	}
	return text, offset, e.length, err
}

// readFull fills b from an offset. A file that ends before is corrupt.
func readFull(file io.ReaderAt, b []byte, offset int64) error {
	n, err := file.ReadAt(b, offset)
	switch {
	case n == len(b):
		return nil
	case err == io.EOF:
		return corrupt("it ends at byte %d", offset+int64(n))
	}
	return err
}
