//go:build !linux

package hashtable

// adviseHugePages does nothing where the system has no such advice.
func adviseHugePages[T any]([]T) {}
