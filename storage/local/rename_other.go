//go:build !linux

package local

func renameNoReplace(from, to string) error { return renameInSteps(from, to) }
