package shuffle

import "encoding/binary"

// loadTail returns a key of up to 16 bytes as two little-endian numbers, padded with zeros.
// It reads only the key's bytes.
func loadTail(key []byte) (a, b uint64) {
	n := len(key)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:]) >> (8 * (16 - uint(n)))
	case n >= 4:
		lo, hi := binary.LittleEndian.Uint32(key), binary.LittleEndian.Uint32(key[n-4:])
		return uint64(lo) | uint64(hi)>>(8*(8-uint(n)))<<32, 0
	case n > 0:
		return uint64(key[0]) | uint64(key[n/2])<<(8*uint(n/2)) | uint64(key[n-1])<<(8*uint(n-1)), 0
	}
	return 0, 0
}
