package shuffle

import "golang.org/x/sys/unix"

// mapMemory maps anonymous memory, on huge pages where the kernel has them:
// records are read in key order, all over the arena.
func mapMemory(size int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	// A kernel without huge pages refuses the advice; small ones do as well.
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
	return mem, nil
}

func unmapMemory(mem []byte) {
	// Unmapping what mapMemory returned can fail only for want of kernel
	// memory; the mapping then stays until the process ends.
	_ = unix.Munmap(mem)
}
