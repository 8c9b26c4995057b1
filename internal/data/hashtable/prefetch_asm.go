//go:build amd64 || arm64

package hashtable

import "unsafe"

// prefetch begins to load two cache lines: the one at that address, and the next. Unlike a load,
// it does not delay the instructions after it, whose loads therefore overlap. An address without
// memory does no harm.
//
//go:noescape
func prefetch(at unsafe.Pointer)
