//go:build !linux

package local

// renameNoReplace calls renameInSteps, because this system has no atomic operation.
func renameNoReplace(from, to string) error { return renameInSteps(from, to) }
