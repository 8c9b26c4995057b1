package writable

import (
	"fmt"
	"io"
	"math"
	"math/bits"
)

// MaxVLongSize is the length of the longest encoding by AppendVLong, in bytes.
const MaxVLongSize = 9

// AppendVLong appends v in the encoding of Hadoop's WritableUtils: one byte for -112 to 127,
// else a byte with the sign and the number of bytes, followed by the magnitude in big-endian
// order without leading zeros. The magnitude of a negative v is ^v.
//
//	-112 … 127     value
//	positive       -112-n   n bytes          300  → 8e 01 2c
//	negative       -120-n   n bytes of ^v   -300  → 86 01 2b
func AppendVLong(dst []byte, v int64) []byte {
	if v >= -112 && v <= 127 {
		return append(dst, byte(v))
	}
	lead, magnitude := byte(0x90), uint64(v) // 0x90 is -112
	if v < 0 {
		lead, magnitude = 0x88, uint64(^v) // 0x88 is -120
	}
	size := (bits.Len64(magnitude) + 7) / 8
	dst = append(dst, lead-byte(size))
	for i := size - 1; i >= 0; i-- {
		dst = append(dst, byte(magnitude>>(8*i)))
	}
	return dst
}

// VLong decodes the vlong at the start of b and returns its value and its number of bytes.
func VLong(b []byte) (v int64, n int, err error) {
	if len(b) == 0 {
		return 0, 0, io.ErrUnexpectedEOF
	}
	n = vlongSize(b[0])
	if len(b) < n {
		return 0, 0, io.ErrUnexpectedEOF
	}
	if n == 1 {
		return int64(int8(b[0])), 1, nil
	}
	var magnitude uint64
	for _, c := range b[1:n] {
		magnitude = magnitude<<8 | uint64(c)
	}
	if int8(b[0]) < -120 {
		magnitude = ^magnitude
	}
	return int64(magnitude), n, nil
}

// VInt decodes the vint at the start of b; a value beyond 32 bits is an error.
// Hadoop's readVInt fails in the same case.
func VInt(b []byte) (v int32, n int, err error) {
	long, n, err := VLong(b)
	if err != nil {
		return 0, 0, err
	}
	if long < math.MinInt32 || long > math.MaxInt32 {
		return 0, 0, fmt.Errorf("vint %d beyond 32 bits", long)
	}
	return int32(long), n, nil
}

// vlongSize returns the length of an encoding, given its first byte.
// WritableUtils.decodeVIntSize computes it in the same way.
func vlongSize(lead byte) int {
	switch c := int8(lead); {
	case c >= -112:
		return 1
	case c >= -120:
		return int(-111 - c)
	default:
		return int(-119 - c)
	}
}
