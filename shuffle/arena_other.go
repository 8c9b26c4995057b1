//go:build !linux

package shuffle

func mapMemory(size int) ([]byte, error) { return make([]byte, size), nil }

func unmapMemory([]byte) {}
