package keys

import (
	"encoding/binary"
	"unsafe"
)

// Signed encodes a signed integer type in its width, big-endian, with the sign bit flipped,
// so that negative numbers come first; int takes 8 bytes. As int16:
//
//	-1  7FFF    0  8000    1  8001
type Signed[T ~int | ~int8 | ~int16 | ~int32 | ~int64] struct{}

func (c Signed[T]) Append(dst []byte, v T) []byte {
	return appendUint(dst, uint64(v)^c.sign(), c.size())
}

// Decode refuses bytes whose length is not the size of T.
func (c Signed[T]) Decode(src []byte) (v T, err error) {
	if len(src) != c.size() {
		return 0, malformed("an integer", len(src))
	}
	return T(readUint(src) ^ c.sign()), nil
}

func (c Signed[T]) AppendPart(dst []byte, v T) []byte { return c.Append(dst, v) }

func (c Signed[T]) DecodePart(src []byte) (v T, rest []byte, err error) {
	return fixedPart(src, c.size(), c.Decode)
}

func (c Signed[T]) partLen(src []byte, _ byte) (int, error) { return fixedPartLen(src, c.size()) }

// size returns the width of T in bytes.
func (Signed[T]) size() int { return int(unsafe.Sizeof(T(0))) }

// sign returns the sign bit of T.
func (c Signed[T]) sign() uint64 { return 1 << (8*c.size() - 1) }

// Unsigned encodes an unsigned integer type in its width, big-endian; uint
// takes 8 bytes.
type Unsigned[T ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64] struct{}

func (c Unsigned[T]) Append(dst []byte, v T) []byte { return appendUint(dst, uint64(v), c.size()) }

// Decode refuses bytes whose length is not the size of T.
func (c Unsigned[T]) Decode(src []byte) (v T, err error) {
	if len(src) != c.size() {
		return 0, malformed("an unsigned integer", len(src))
	}
	return T(readUint(src)), nil
}

func (c Unsigned[T]) AppendPart(dst []byte, v T) []byte { return c.Append(dst, v) }

func (c Unsigned[T]) DecodePart(src []byte) (v T, rest []byte, err error) {
	return fixedPart(src, c.size(), c.Decode)
}

func (c Unsigned[T]) partLen(src []byte, _ byte) (int, error) { return fixedPartLen(src, c.size()) }

func (Unsigned[T]) size() int { return int(unsafe.Sizeof(T(0))) }

// appendUint appends the low size bytes of v, big-endian.
func appendUint(dst []byte, v uint64, size int) []byte {
	switch size {
	case 8:
		return binary.BigEndian.AppendUint64(dst, v)
	case 4:
		return binary.BigEndian.AppendUint32(dst, uint32(v))
	case 2:
		return binary.BigEndian.AppendUint16(dst, uint16(v))
	}
	return append(dst, byte(v))
}

// readUint reads a big-endian number of 1, 2, 4 or 8 bytes.
func readUint(src []byte) uint64 {
	switch len(src) {
	case 8:
		return binary.BigEndian.Uint64(src)
	case 4:
		return uint64(binary.BigEndian.Uint32(src))
	case 2:
		return uint64(binary.BigEndian.Uint16(src))
	}
	return uint64(src[0])
}

// fixedPart decodes a part of size bytes. Codecs of fixed size need no terminator, so their
// part form equals the top-level form.
func fixedPart[T any](src []byte, size int, decode func([]byte) (T, error)) (v T, rest []byte, err error) {
	if len(src) < size {
		return v, nil, malformed("a part that is cut short", len(src))
	}
	v, err = decode(src[:size])
	return v, src[size:], err
}

// fixedPartLen returns the length of a part of fixed size, if src has that many bytes.
func fixedPartLen(src []byte, size int) (int, error) {
	if len(src) < size {
		return 0, malformed("a part that is cut short", len(src))
	}
	return size, nil
}
