package shuffle

import "encoding/binary"

// A sort key is the first part of a key as two numbers that compare as the key's bytes do:
//
//	prefix  bytes 0..7, big-endian, padded with zeros
//	rest    bytes 8..10, then min(length, 12) in the low byte
//
// Keys of up to 11 bytes are equal if and only if their sort keys are. Longer keys with
// equal sort keys differ from byte sortKeyBytes on.
const (
	sortKeyBytes  = 11
	sortKeyCapped = 12 // low byte of rest: the key is longer than sortKeyBytes
)

// sortKey is the sort key of key.
func sortKey(key []byte) (prefix uint64, rest uint32) {
	n := len(key)
	switch {
	case n > sortKeyBytes:
		return binary.BigEndian.Uint64(key), binary.BigEndian.Uint32(key[8:])&^0xff | sortKeyCapped
	case n >= 8:
		tail := binary.BigEndian.Uint32(key[n-4:])
		return binary.BigEndian.Uint64(key), tail<<(8*(12-uint(n))) | uint32(n)
	case n >= 4:
		head, tail := binary.BigEndian.Uint32(key), binary.BigEndian.Uint32(key[n-4:])
		return uint64(head)<<32 | uint64(tail)<<(8*(8-uint(n)))&0xffffffff, uint32(n)
	}
	for i, c := range key {
		prefix |= uint64(c) << (56 - 8*uint(i))
	}
	return prefix, uint32(n)
}

// wholeSortKey reports whether a key with this rest is contained in its sort key.
func wholeSortKey(rest uint32) bool { return rest&0xff < sortKeyCapped }
