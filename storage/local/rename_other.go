//go:build !linux

package local

// renameNoReplace has no atomic operation to use on this system.
func renameNoReplace(from, to string) error { return renameInSteps(from, to) }
