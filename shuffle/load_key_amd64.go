//go:build !race

package shuffle

import (
	"encoding/binary"
	"unsafe"
)

// pageSize is the smallest page of the architecture.
const pageSize = 4096

// loadKey is a key of up to 16 bytes as two little-endian numbers, zeros behind
// it. A short key is read as 8 bytes whatever its length, which saves a branch
// that words of changing length would mispredict. What lies behind the key is
// masked off; the 8 bytes are in one page with the key's first, so reading them
// cannot fault. The race detector would see the bytes behind the key read, so
// its builds do without.
//
//go:nocheckptr
func loadKey(key []byte) (a, b uint64) {
	n := uint(len(key))
	if n > 8 {
		return binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:]) >> (8 * (16 - n))
	}
	first := unsafe.Pointer(unsafe.SliceData(key))
	if n == 0 || uintptr(first)%pageSize > pageSize-8 {
		return loadTail(key)
	}
	return *(*uint64)(first) & (1<<(8*n) - 1), 0
}
