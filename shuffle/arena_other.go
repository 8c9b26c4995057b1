//go:build !linux

package shuffle

// arenasOutsideHeap says whether the garbage collector does not know the memory of arenas.
const arenasOutsideHeap = false

func mapMemory(size int) ([]byte, error) { return make([]byte, size), nil }

func unmapMemory([]byte) {}
