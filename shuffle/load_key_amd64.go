//go:build !race

package shuffle

import (
	"encoding/binary"
	"unsafe"
)

// pageSize is the smallest page of the architecture.
const pageSize = 4096

// loadKey returns a key of up to 16 bytes as two little-endian numbers, padded with zeros. A
// short key is read as 8 bytes whatever its length, which saves a branch that keys of
// changing length would mispredict. The bytes after the key are masked off. The 8 bytes are
// in one page with the key's first byte, so reading them cannot fault. The race detector
// would report a read of the bytes after the key, so its builds use loadTail.
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

// loadShort returns the first number of a key of 1 to 8 bytes, whose second is 0; ok is false if loadKey must load it.
// It is a method because those of a generic type are inlined in other packages too.
//
//go:nocheckptr
func (t *FoldTable[V]) loadShort(key []byte) (a uint64, ok bool) {
	n, first := uint(len(key)), unsafe.Pointer(unsafe.SliceData(key))
	if n-1 >= 8 || uintptr(first)%pageSize > pageSize-8 {
		return 0, false
	}
	return *(*uint64)(first) & (1<<(8*n) - 1), true
}
