package shuffle

import "golang.org/x/sys/unix"

// arenasOutsideHeap says whether the garbage collector does not know the memory of arenas.
const arenasOutsideHeap = true

// mapMemory maps anonymous memory, with huge pages if the kernel has them: a reader takes
// records in key order, and these are scattered over the arena.
func mapMemory(size int) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	// A kernel without huge pages refuses the advice; small pages work too.
	_ = unix.Madvise(mem, unix.MADV_HUGEPAGE)
	return mem, nil
}

// unmapMemory returns the pages to the system. Access to a slice of unmapped memory crashes
// the process, so every owner drops its slices first.
func unmapMemory(mem []byte) {
	// Unmapping fails only if the kernel lacks memory. The mapping then remains until the
	// process ends.
	_ = unix.Munmap(mem)
}
