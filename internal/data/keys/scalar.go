package keys

import (
	"encoding/binary"
	"time"
)

// Bool encodes false as 0x00 and true as 0x01.
type Bool struct{}

func (Bool) Append(dst []byte, v bool) []byte {
	if v {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Decode refuses bytes other than 0 and 1, so that true has only one encoding.
func (Bool) Decode(src []byte) (bool, error) {
	if len(src) != 1 || src[0] > 1 {
		return false, malformed("a bool", len(src))
	}
	return src[0] == 1, nil
}

func (c Bool) AppendPart(dst []byte, v bool) []byte { return c.Append(dst, v) }

func (c Bool) DecodePart(src []byte) (v bool, rest []byte, err error) {
	return fixedPart(src, 1, c.Decode)
}

func (Bool) partLen(src []byte, _ byte) (int, error) { return fixedPartLen(src, 1) }

func (Bool) size() int { return 1 }

// Time encodes instants in 12 bytes: seconds since 1970 as an int64, then nanoseconds within
// the second as a uint32. It can represent every time.Time. The location and the monotonic
// clock are dropped, and Decode returns UTC.
//
//	| seconds, sign bit flipped, 8 bytes | nanoseconds, 4 bytes |
type Time struct{}

// timeSize is the length of an encoded time in bytes.
const timeSize = 12

// Append drops the location and the monotonic clock.
func (Time) Append(dst []byte, v time.Time) []byte {
	dst = Signed[int64]{}.Append(dst, v.Unix())
	return binary.BigEndian.AppendUint32(dst, uint32(v.Nanosecond()))
}

// Decode refuses nanoseconds beyond a second, because two encodings of one instant would be
// two keys.
func (Time) Decode(src []byte) (time.Time, error) {
	if len(src) != timeSize {
		return time.Time{}, malformed("a time", len(src))
	}
	nanos := binary.BigEndian.Uint32(src[8:])
	if nanos >= uint32(time.Second) {
		return time.Time{}, malformed("a time with more than a second of nanoseconds", len(src))
	}
	return time.Unix(int64(readUint(src[:8])^(1<<63)), int64(nanos)).UTC(), nil
}

func (c Time) AppendPart(dst []byte, v time.Time) []byte { return c.Append(dst, v) }

func (c Time) DecodePart(src []byte) (v time.Time, rest []byte, err error) {
	return fixedPart(src, timeSize, c.Decode)
}

func (Time) partLen(src []byte, _ byte) (int, error) { return fixedPartLen(src, timeSize) }

func (Time) size() int { return timeSize }

// Empty encodes struct{} as no bytes, for keys or values without content. All records with
// such a key are one group.
type Empty struct{}

func (Empty) Append(dst []byte, _ struct{}) []byte     { return dst }
func (Empty) AppendPart(dst []byte, _ struct{}) []byte { return dst }

// Decode refuses any bytes.
func (Empty) Decode(src []byte) (v struct{}, err error) {
	if len(src) != 0 {
		err = malformed("nothing", len(src))
	}
	return v, err
}

func (Empty) DecodePart(src []byte) (v struct{}, rest []byte, err error) { return v, src, nil }

func (Empty) partLen([]byte, byte) (int, error) { return 0, nil }

func (Empty) size() int { return 0 }
