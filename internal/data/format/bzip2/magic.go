package bzip2

// Marks of 48 bits.
const (
	blockMagic = 0x314159265359 // begins a block
	endMagic   = 0x177245385090 // ends a stream
	magicBits  = 48
)

// hints reports, for each value of a byte, whether it can be the next-to-last byte that a
// mark covers.
var hints = func() (h [256]bool) {
	for shift := range 8 {
		for _, magic := range []uint64{blockMagic, endMagic} {
			h[byte(magic>>(8-shift))] = true
		}
	}
	return h
}()

// findMagic returns the bit at which the first mark at or after bit from of buf begins, and
// the mark itself. The bit is -1 if there is no mark.
func findMagic(buf []byte, from int) (bit int, magic uint64) {
	var window uint64 // the last eight bytes
	for i := from / 8; i < len(buf); i++ {
		window = window<<8 | uint64(buf[i])
		if !hints[byte(window>>8)] {
			continue
		}
		for shift := 7; shift >= 0; shift-- {
			magic := window >> shift & (1<<magicBits - 1)
			bit := 8*(i+1) - shift - magicBits
			if (magic == blockMagic || magic == endMagic) && bit >= from {
				return bit, magic
			}
		}
	}
	return -1, 0
}

// bitsAt returns the n bits of buf that begin at bit at. n is at most 57.
func bitsAt(buf []byte, at, n int) uint64 {
	var v uint64
	for i := at / 8; i <= (at+n-1)/8; i++ {
		v = v<<8 | uint64(buf[i])
	}
	last := (at + n - 1) % 8
	return v >> (7 - last) & (1<<n - 1)
}

// appendStream appends a stream that holds the one block whose bits are
// [from, to) of buf.
func appendStream(dst, buf []byte, from, to int) []byte {
	dst = append(dst, "BZh9"...) // level 9 accepts blocks of any level
	at := from
	for ; at+8 <= to; at += 8 {
		dst = append(dst, byteAt(buf, at))
	}
	spare := to - at // number of remaining bits, fewer than 8
	var tail uint64
	if spare > 0 {
		tail = uint64(byteAt(buf, at) >> (8 - spare))
	}
	put := func(v uint64, bytes int) {
		for i := bytes - 1; i >= 0; i-- {
			tail = tail<<8 | v>>(8*i)&0xFF
			dst = append(dst, byte(tail>>spare))
		}
	}
	put(endMagic, magicBits/8)
	put(bitsAt(buf, from+magicBits, 32), 4) // checksum of the stream, which equals the checksum of its only block
	if spare > 0 {
		put(0, 1)
	}
	return dst
}

// byteAt returns the eight bits of buf that begin at a bit, with zeros behind buf.
func byteAt(buf []byte, bit int) byte {
	i, shift := bit/8, bit%8
	b := buf[i] << shift
	if shift > 0 && i+1 < len(buf) {
		b |= buf[i+1] >> (8 - shift)
	}
	return b
}
