package bzip2

import (
	"bytes"
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/hammr/hammr/storage"
)

// Sizes of the search for blocks.
const (
	headerSize    = 4 // bytes before the first block of a file
	readSize      = 256 << 10
	maxBlockBytes = 4 << 20 // compressed; the format allows about 2.3 MB
	minBlockBits  = magicBits + 32
)

// Reader reads the plain bytes of a file, starting with a block.
type Reader struct {
	name string
	src  io.Reader // the file, from base + len(buf)
	end  error     // error or io.EOF of src; nil until it occurs

	base int64  // offset of buf[0] in the file
	buf  []byte // bytes of the file that are still needed
	next int    // bit of buf at which the search for the next block begins

	stream []byte // buffer for one block in the form of a stream
	plain  bytes.Buffer
	unread []byte // unread part of plain
	total  int64  // plain bytes of all blocks so far
	blocks []block
	err    error
}

// block is the offset of a block in the file and in the plain bytes.
type block struct{ file, plain int64 }

// NewReader reads the file named name; src has its bytes from the offset from on. It starts
// with the first block whose first bit is at or after that offset. The function First
// reports whether this is the first block of the file.
func NewReader(name string, src io.Reader, from int64) *Reader {
	return &Reader{name: name, src: src, base: from}
}

// First reports whether a reader that begins at the offset from begins with
// the file's first record.
func First(from int64) bool { return from <= headerSize }

// Read reads plain bytes. Damage is an error that wraps storage.ErrCorrupt and
// names the file and the block's offset.
func (r *Reader) Read(p []byte) (int, error) {
	for len(r.unread) == 0 && r.err == nil {
		r.err = r.decodeNext()
	}
	if len(r.unread) == 0 {
		return 0, r.err
	}
	n := copy(p, r.unread)
	r.unread = r.unread[n:]
	return n, nil
}

// Block returns the offset in the file of the block that contains the plain byte at offset.
// Plain offsets count from the first byte that was read. Bytes before it count to a block
// directly behind the file's header, wherever the first block is. Offsets must not decrease
// from call to call.
func (r *Reader) Block(offset int64) int64 {
	if offset < 0 || len(r.blocks) == 0 {
		return headerSize
	}
	i := sort.Search(len(r.blocks), func(i int) bool { return r.blocks[i].plain > offset }) - 1
	r.blocks = r.blocks[max(0, i):]
	return r.blocks[0].file
}

// Offset returns the offset up to which the file has been decoded.
func (r *Reader) Offset() int64 { return r.base + int64(r.next/8) }

// decodeNext decodes the next block into unread; io.EOF is the end of the
// file.
func (r *Reader) decodeNext() error {
	if err := r.checkHeader(); err != nil {
		return err
	}
	start, err := r.findBlock()
	if err != nil {
		return err
	}
	offset := r.base + int64(start/8)
	var first error // error of decoding the block up to the nearest mark
	for from := start + minBlockBits; ; {
		end, err := r.find(from, start)
		if err != nil {
			return r.corrupt(offset, errors.Join(first, err))
		}
		if err := r.decode(start, end); err == nil {
			r.blocks = append(r.blocks, block{offset, r.total})
			r.total += int64(r.plain.Len())
			r.unread, r.next = r.plain.Bytes(), end
			return nil
		} else if first == nil {
			first = err
		}
		from = end + 1
	}
}

// checkHeader refuses a file that does not begin as bzip2 files do.
func (r *Reader) checkHeader() error {
	if r.base > 0 || len(r.buf) > 0 {
		return nil
	}
	r.more()
	switch {
	case len(r.buf) == 0 && r.end != nil:
		return r.end
	case len(r.buf) < headerSize || string(r.buf[:3]) != "BZh" || r.buf[3] < '1' || r.buf[3] > '9':
		return r.corrupt(0, errors.New("no bzip2 header"))
	}
	return nil
}

// findBlock returns the bit of buf at which the next block begins.
func (r *Reader) findBlock() (int, error) {
	for {
		r.drop()
		bit, magic := findMagic(r.buf, r.next)
		switch {
		case magic == blockMagic:
			return bit, nil
		case bit >= 0:
			r.next = bit + minBlockBits
		case r.end != nil:
			return 0, r.end
		default:
			r.next = max(r.next, 8*len(r.buf)-magicBits)
			r.more()
		}
	}
}

// find returns the bit of the first mark at or after bit from, and reads as much as it
// needs. start is the bit at which the block begins.
func (r *Reader) find(from, start int) (int, error) {
	for {
		if bit, _ := findMagic(r.buf, from); bit >= 0 {
			return bit, nil
		}
		switch {
		case len(r.buf)-start/8 > maxBlockBytes:
			return 0, errors.New("block without an end")
		case r.end == io.EOF:
			return 0, errors.New("file ends within a block")
		case r.end != nil:
			return 0, r.end
		}
		from = max(from, 8*len(r.buf)-magicBits)
		r.more()
	}
}

// decode decodes the block whose bits are [start, end) of buf.
func (r *Reader) decode(start, end int) error {
	r.stream = appendStream(r.stream[:0], r.buf, start, end)
	r.plain.Reset()
	_, err := r.plain.ReadFrom(bzip2.NewReader(bytes.NewReader(r.stream)))
	return err
}

// drop forgets the bytes before next.
func (r *Reader) drop() {
	n := min(r.next/8, len(r.buf))
	r.buf = append(r.buf[:0], r.buf[n:]...)
	r.base += int64(n)
	r.next -= 8 * n
}

// more reads the next part of the file into buf.
func (r *Reader) more() {
	if r.end != nil {
		return
	}
	had := len(r.buf)
	r.buf = append(r.buf, make([]byte, readSize)...)
	n, err := io.ReadFull(r.src, r.buf[had:])
	r.buf = r.buf[:had+n]
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	r.end = err
}

// corrupt returns an error for damaged data. If the data ends because of an error of the
// file, it returns the error of the file.
func (r *Reader) corrupt(offset int64, err error) error {
	if r.end != nil && r.end != io.EOF {
		return r.end
	}
	return fmt.Errorf("%s: %w: bzip2 block at byte %d: %w", r.name, storage.ErrCorrupt, offset, err)
}
