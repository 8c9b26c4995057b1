package bzip2

import (
	"errors"
	"io"
)

// Sizes of the search for blocks.
const (
	headerSize    = 4 // bytes before the first block of a file
	readSize      = 256 << 10
	maxBlockBytes = 4 << 20 // compressed; the format allows about 2.3 MB
	headerBits    = 8 * headerSize
	minBlockBits  = magicBits + 32
)

// search moves to the first mark at or after next. io.EOF means that there is none.
func (r *Reader) search() error {
	for {
		r.drop()
		bit, _ := findMagic(r.buf, r.next)
		switch {
		case bit >= 0:
			r.next, r.expected = bit, aMark
			return nil
		case r.end != nil:
			return r.end
		}
		r.next = max(r.next, 8*len(r.buf)-magicBits)
		r.more()
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

// drop forgets the bytes before the first block of the queue, which retry may need, or before
// next.
func (r *Reader) drop() {
	keep := 8*r.base + int64(r.next)
	if len(r.queue) > 0 {
		keep = r.queue[0].start
	}
	n := min(int(keep/8-r.base), len(r.buf))
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
