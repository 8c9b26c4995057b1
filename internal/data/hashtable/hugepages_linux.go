package hashtable

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// hugePage is the size of a huge page on most machines.
const hugePage = 2 << 20

// adviseHugePages asks the kernel for huge pages in the memory of a large slice. Look-ups hit
// all of a table, and huge pages avoid most of the TLB misses. The memory stays the garbage
// collector's. A kernel that refuses the advice uses small pages.
func adviseHugePages[T any](s []T) {
	bytes := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(cap(s))*unsafe.Sizeof(*new(T)))
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(bytes))) & (hugePage - 1)
	if uintptr(len(bytes)) < skip+hugePage {
		return
	}
	bytes = bytes[skip:]
	_ = unix.Madvise(bytes[:uintptr(len(bytes))&^(hugePage-1)], unix.MADV_HUGEPAGE)
}
