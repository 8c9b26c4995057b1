package shuffle

import (
	"encoding/binary"
	"math/bits"
)

// A record is the same bytes in memory, in a spill and in a segment: uvarint key
// length, uvarint value length, key, value.

// uvarintLen is how many bytes x takes as a uvarint.
func uvarintLen(x int) int { return (bits.Len64(uint64(x)|1) + 6) / 7 }

// recordLen is the length of a record in bytes.
func recordLen(keyLen, valueLen int) int {
	return uvarintLen(keyLen) + uvarintLen(valueLen) + keyLen + valueLen
}

// putRecord writes a record to dst, which must be long enough.
func putRecord(dst, key, value []byte) {
	n := 2
	if len(key)|len(value) < 0x80 {
		dst[0], dst[1] = byte(len(key)), byte(len(value))
	} else {
		n = binary.PutUvarint(dst, uint64(len(key)))
		n += binary.PutUvarint(dst[n:], uint64(len(value)))
	}
	copy(dst[n:], key)
	copy(dst[n+len(key):], value)
}

// span locates the parts of a record in the bytes that hold it.
type span struct {
	start int // of the record
	key   int // start of the key
	value int // start of the value, end of the key
	end   int // of the record
}

// parseRecord locates the parts of the record that begins at b[at]. ok is false if the
// record is incomplete.
func parseRecord(b []byte, at int) (s span, ok bool) {
	if at+2 <= len(b) && b[at]|b[at+1] < 0x80 {
		s.start, s.key = at, at+2
		s.value = s.key + int(b[at])
		s.end = s.value + int(b[at+1])
		return s, s.end <= len(b)
	}
	return parseLongRecord(b, at)
}

func parseLongRecord(b []byte, at int) (s span, ok bool) {
	s.start = at
	keyLen, n := binary.Uvarint(b[at:])
	if n <= 0 || keyLen > uint64(len(b)) {
		return s, false
	}
	at += n
	valueLen, n := binary.Uvarint(b[at:])
	if n <= 0 || valueLen > uint64(len(b)) {
		return s, false
	}
	s.key = at + n
	s.value = s.key + int(keyLen)
	s.end = s.value + int(valueLen)
	return s, s.end <= len(b)
}
