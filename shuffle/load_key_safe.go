//go:build race || !amd64

package shuffle

// loadKey returns a key of up to 16 bytes as two little-endian numbers, padded with zeros.
func loadKey(key []byte) (a, b uint64) { return loadTail(key) }

// loadShort always leaves a key to loadKey.
func (t *FoldTable[V]) loadShort([]byte) (a uint64, ok bool) { return 0, false }
