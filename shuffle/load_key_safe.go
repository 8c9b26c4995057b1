//go:build race || !amd64

package shuffle

// loadKey is a key of up to 16 bytes as two little-endian numbers, zeros behind
// it.
func loadKey(key []byte) (a, b uint64) { return loadTail(key) }
