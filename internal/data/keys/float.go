package keys

import (
	"fmt"
	"math"
	"unsafe"
)

// Float encodes a float type in its width, big-endian, in the order
// -Inf < … < -0 < +0 < … < +Inf < NaN. The zeros -0 and +0 are two keys, and each keeps its sign.
// All NaNs are one key, decoded as math.NaN().
//
// Negative numbers sort in reverse in IEEE 754, so all their bits are flipped; for any other number
// only the sign bit is flipped. As float64:
//
//	-2  C0000000…  ──►  3FFFFFFF…
//	-1  BFF00000…  ──►  400FFFFF…
//	 1  3FF00000…  ──►  BFF00000…
//	 2  40000000…  ──►  C0000000…
type Float[T float32 | float64] struct{}

// Append encodes all NaNs alike; they sort last.
func (c Float[T]) Append(dst []byte, v T) []byte {
	if v != v {
		v = T(math.NaN())
	}
	bits := toBits(v)
	if bits&c.sign() != 0 {
		return appendUint(dst, ^bits, c.size())
	}
	return appendUint(dst, bits|c.sign(), c.size())
}

// Decode reverses Append: if the sign bit of the code is not set, all bits were flipped.
func (c Float[T]) Decode(src []byte) (v T, err error) {
	if len(src) != c.size() {
		return 0, malformed(fmt.Sprintf("a float%d", 8*c.size()), len(src))
	}
	bits := readUint(src)
	if bits&c.sign() == 0 {
		return fromBits[T](^bits), nil
	}
	return fromBits[T](bits &^ c.sign()), nil
}

func (c Float[T]) AppendPart(dst []byte, v T) []byte { return c.Append(dst, v) }

// DecodePart decodes as many bytes as T has: the part form is the top-level form.
func (c Float[T]) DecodePart(src []byte) (v T, rest []byte, err error) {
	return fixedPart(src, c.size(), c.Decode)
}

func (c Float[T]) partLen(src []byte, _ byte) (int, error) { return fixedPartLen(src, c.size()) }

// size returns the width of T in bytes.
func (Float[T]) size() int { return int(unsafe.Sizeof(T(0))) }

// sign returns the sign bit of T.
func (c Float[T]) sign() uint64 { return 1 << (8*c.size() - 1) }
