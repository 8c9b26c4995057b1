//go:build !amd64 && !arm64

package hashtable

import "unsafe"

// prefetch does nothing: look-ups work without it.
func prefetch(unsafe.Pointer) {}
