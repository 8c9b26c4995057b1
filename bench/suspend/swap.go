package suspend

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// swapFile is a file that the kernel swaps to; "" is none.
type swapFile string

// newSwapFile makes a file of the given size and has the kernel swap to it. It must be
// removed. bytes should be a multiple of the page size; the rest is not used.
func newSwapFile(path string, bytes int64) (swapFile, error) {
	page := int64(os.Getpagesize())
	if err := writeSwap(path, bytes/page, page); err != nil {
		return "", errors.Join(fmt.Errorf("swap file: %w", err), os.Remove(path))
	}
	if err := swapCall(unix.SYS_SWAPON, path); err != nil {
		return "", errors.Join(fmt.Errorf("swapon %s: %w", path, err), os.Remove(path))
	}
	return swapFile(path), nil
}

// writeSwap writes zeros, since a swap file has no holes, behind the header that mkswap(8)
// writes. The kernel refuses a sparse file.
func writeSwap(path string, pages, page int64) (err error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	zeros := make([]byte, page<<8)
	for left := pages * page; left > 0 && err == nil; {
		var n int
		n, err = f.Write(zeros[:min(left, int64(len(zeros)))])
		left -= int64(n)
	}
	if err != nil {
		return err
	}
	if _, err := f.WriteAt(swapHeader(pages, page), 0); err != nil {
		return err
	}
	return f.Sync()
}

// swapHeader returns the first page: at 1024 the version and the last page, at the end a
// magic word.
func swapHeader(pages, page int64) []byte {
	b := make([]byte, page)
	binary.NativeEndian.PutUint32(b[1024:], 1)
	binary.NativeEndian.PutUint32(b[1028:], uint32(pages-1))
	copy(b[page-10:], "SWAPSPACE2")
	return b
}

// swapCall calls swapon(2) or swapoff(2), which package unix lacks.
func swapCall(number uintptr, path string) error {
	name, err := unix.BytePtrFromString(path)
	if err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(number, uintptr(unsafe.Pointer(name)), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// remove makes the kernel stop using the file, and removes it.
func (s swapFile) remove() error {
	if s == "" {
		return nil
	}
	if err := swapCall(unix.SYS_SWAPOFF, string(s)); err != nil {
		return fmt.Errorf("swapoff %s: %w; run swapoff again and remove the file", string(s), err)
	}
	return os.Remove(string(s))
}
