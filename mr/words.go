package mr

import (
	"encoding/binary"
	"iter"
	"math/bits"
)

// Words ranges over the words of line as Hadoop's StringTokenizer does: they are separated by
// spaces, tabs, newlines, carriage returns and form feeds. The words are views of line. It
// looks at eight bytes at a time, because the search for spaces is most of the work of a job
// that counts words.
func Words(line []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := skipSpace(line, 0); i < len(line); {
			end := wordEnd(line, i)
			if !yield(line[i:end:end]) {
				return
			}
			i = end + 1
			if i < len(line) && line[i] <= ' ' {
				i = skipSpace(line, i)
			}
		}
	}
}

// isSpace reports whether c separates words: the delimiters of Java's StringTokenizer. A
// vertical tab is not one of them.
func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
}

// skipSpace returns the index of the first byte at or after i that is no space, or len(line).
func skipSpace(line []byte, i int) int {
	for i < len(line) && isSpace(line[i]) {
		i++
	}
	return i
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

// wordEnd returns the index of the first space at or after i, or len(line). For each eight
// bytes the mask marks the control characters, which are rare, and only those are compared
// with the spaces.
func wordEnd(line []byte, i int) int {
	for ; i+8 <= len(line); i += 8 {
		mask := controlMask(binary.LittleEndian.Uint64(line[i:]))
		for ; mask != 0; mask &= mask - 1 {
			if j := i + bits.TrailingZeros64(mask)>>3; isSpace(line[j]) {
				return j
			}
		}
	}
	return tailEnd(line, i)
}

// tailEnd does what wordEnd does, for the last seven bytes at most.
func tailEnd(line []byte, i int) int {
	rest := len(line) - i
	if len(line) < 8 || rest == 0 {
		for i < len(line) && !isSpace(line[i]) {
			i++
		}
		return i
	}
	// tail is the last eight bytes without those before i. The zeros that are shifted in
	// count as control characters too, the first of them at len(line).
	tail := binary.LittleEndian.Uint64(line[len(line)-8:]) >> (8 * uint(8-rest))
	for mask := controlMask(tail); ; mask &= mask - 1 {
		if j := i + bits.TrailingZeros64(mask)>>3; j == len(line) || isSpace(line[j]) {
			return j
		}
	}
}
