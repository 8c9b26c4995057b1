package keys

import (
	"encoding/binary"
	"math"
)

// Sign bits of IEEE 754. Negative numbers sort in reverse, so all their bits are flipped;
// for any other number only the sign bit is flipped:
//
//	-2  C0000000…  ──►  3FFFFFFF…
//	-1  BFF00000…  ──►  400FFFFF…
//	 1  3FF00000…  ──►  BFF00000…
//	 2  40000000…  ──►  C0000000…
const (
	sign32 = 1 << 31
	sign64 = 1 << 63
)

// Float64 encodes float64 in 8 bytes in the order -Inf < … < -0 < +0 < … < +Inf < NaN. The
// zeros -0 and +0 are two keys, and each keeps its sign. All NaNs are one key, decoded as
// math.NaN().
type Float64 struct{}

// Append encodes all NaNs alike; they sort last.
func (Float64) Append(dst []byte, v float64) []byte {
	if v != v {
		v = math.NaN()
	}
	bits := math.Float64bits(v)
	if bits&sign64 != 0 {
		return binary.BigEndian.AppendUint64(dst, ^bits)
	}
	return binary.BigEndian.AppendUint64(dst, bits|sign64)
}

// Decode reverses Append: if the sign bit of the code is not set, all bits were flipped.
func (Float64) Decode(src []byte) (float64, error) {
	if len(src) != 8 {
		return 0, malformed("a float64", len(src))
	}
	bits := binary.BigEndian.Uint64(src)
	if bits&sign64 == 0 {
		return math.Float64frombits(^bits), nil
	}
	return math.Float64frombits(bits &^ sign64), nil
}

func (c Float64) AppendPart(dst []byte, v float64) []byte { return c.Append(dst, v) }

// DecodePart decodes 8 bytes: the part form is the top-level form.
func (c Float64) DecodePart(src []byte) (v float64, rest []byte, err error) {
	return fixedPart(src, 8, c.Decode)
}

func (Float64) partLen(src []byte, _ byte) (int, error) { return fixedPartLen(src, 8) }

func (Float64) size() int { return 8 }

// Float32 encodes float32 in 4 bytes, in the order of Float64.
type Float32 struct{}

// Append encodes all NaNs alike; they sort last.
func (Float32) Append(dst []byte, v float32) []byte {
	if v != v {
		v = float32(math.NaN())
	}
	bits := math.Float32bits(v)
	if bits&sign32 != 0 {
		return binary.BigEndian.AppendUint32(dst, ^bits)
	}
	return binary.BigEndian.AppendUint32(dst, bits|sign32)
}

// Decode reverses Append: if the sign bit of the code is not set, all bits were flipped.
func (Float32) Decode(src []byte) (float32, error) {
	if len(src) != 4 {
		return 0, malformed("a float32", len(src))
	}
	bits := binary.BigEndian.Uint32(src)
	if bits&sign32 == 0 {
		return math.Float32frombits(^bits), nil
	}
	return math.Float32frombits(bits &^ sign32), nil
}

func (c Float32) AppendPart(dst []byte, v float32) []byte { return c.Append(dst, v) }

// DecodePart decodes 4 bytes: the part form is the top-level form.
func (c Float32) DecodePart(src []byte) (v float32, rest []byte, err error) {
	return fixedPart(src, 4, c.Decode)
}

func (Float32) partLen(src []byte, _ byte) (int, error) { return fixedPartLen(src, 4) }

func (Float32) size() int { return 4 }
