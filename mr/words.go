package mr

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// Words ranges over the words of line as Hadoop's StringTokenizer does: they are separated by
// spaces, tabs, newlines, carriage returns and form feeds. The words are views of line.
//
// The search for spaces is much of the work of a job that counts words. Words finds them in
// blocks of 64 bytes, as the bits of one number. So the processor need not know the length of
// a word, which it cannot predict, to search for the next one.
func Words(line []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := 0
		for at := 0; at < len(line); at += blockSize {
			for ends := controlBits(line, at); ends != 0; ends &= ends - 1 {
				end := at + bits.TrailingZeros64(ends)
				if !isSpace(line[end]) {
					continue
				}
				if end > start && !yield(line[start:end:end]) {
					return
				}
				start = end + 1
			}
		}
		if start < len(line) {
			yield(line[start:len(line):len(line)])
		}
	}
}

// isSpace reports whether c separates words: the delimiters of Java's StringTokenizer. A
// vertical tab is not one of them.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

// The bytes 01 and 80, eight times each, for arithmetic on eight bytes at once.
const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// controlMask sets the high bit of each byte of x that is at most a space: spaces, and a few
// control characters that are not. In hexadecimal:
//
//	x &^ 80…80     the low seven bits of each byte
//	+ (80-21)…     carries into the high bit if they are at least 21, which is above a space
//	| x            so does a high bit that was set
//	^ … & 80…80    the bytes for which neither holds
func controlMask(x uint64) uint64 {
	return ^(((x &^ highBits) + (0x80-0x21)*lowBits) | x) & highBits
}

// gatherHigh returns the high bits of the eight bytes of mask, whose other bits are 0, as the
// low eight bits. The multiplication shifts the bit of byte k to bit 56+k; no two of its
// products meet in one bit.
func gatherHigh(mask uint64) uint64 { return mask >> 7 * 0x0102040810204080 >> 56 }

// blockSize is the number of bytes that controlBits looks at.
const blockSize = 64

// controlBits sets bit k if the byte of line at at+k is at most a space, for the bytes of one
// block. Bits behind the end of line are 0.
func controlBits(line []byte, at int) (found uint64) {
	if len(line)-at < blockSize {
		return lastControlBits(line, at)
	}
	block := (*[blockSize]byte)(line[at:])
	for k := 0; k < blockSize; k += 8 {
		found |= gatherHigh(controlMask(binary.LittleEndian.Uint64(block[k:k+8]))) << k
	}
	return found
}

// lastControlBits does what controlBits does, for a block that ends with line and is shorter
// than the others. It reads fewer than eight remaining bytes as part of the last eight of line.
func lastControlBits(line []byte, at int) (found uint64) {
	rest, k := line[at:], 0
	for ; k+8 <= len(rest); k += 8 {
		found |= gatherHigh(controlMask(binary.LittleEndian.Uint64(rest[k:]))) << k
	}
	if left := len(rest) - k; left > 0 && len(line) >= 8 {
		last := binary.LittleEndian.Uint64(line[len(line)-8:]) >> (8 * (8 - left))
		return (found | gatherHigh(controlMask(last))<<k) & (1<<len(rest) - 1)
	}
	for ; k < len(rest); k++ {
		if rest[k] <= ' ' {
			found |= 1 << k
		}
	}
	return found
}
