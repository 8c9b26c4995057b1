package shuffle

import (
	"encoding/binary"

	"github.com/hammr/hammr/internal/data/poison"
)

// longKeys stores keys that are too long for a table entry, in chunks, so that it grows
// without copying. A place is the number of a chunk and an offset in it:
//
//	63        32 31          0
//	|  chunk    |   offset   |
type longKeys struct {
	chunks [][]byte
	spare  [][]byte // empty chunks, of keyChunk bytes each
	size   int64    // total bytes of all chunks, with spare ones
	poison bool     // overwrite keys that are dropped
}

// keyChunk is the size of a chunk; a longer key has a chunk of its own.
const keyChunk = 64 << 10

// add copies a key and returns its place. A key never spans two chunks, so that get can
// return a view.
func (k *longKeys) add(key []byte) uint64 {
	last := len(k.chunks) - 1
	if last < 0 || len(k.chunks[last])+len(key) > cap(k.chunks[last]) {
		k.chunks = append(k.chunks, k.newChunk(len(key)))
		last++
	}
	at := len(k.chunks[last])
	k.chunks[last] = append(k.chunks[last], key...)
	return uint64(last)<<32 | uint64(at)
}

// newChunk returns an empty chunk for a key of n bytes.
func (k *longKeys) newChunk(n int) []byte {
	if last := len(k.spare) - 1; last >= 0 && n <= keyChunk {
		chunk := k.spare[last]
		k.spare = k.spare[:last]
		return chunk
	}
	k.size += int64(max(keyChunk, n))
	return make([]byte, 0, max(keyChunk, n))
}

// reset drops all keys and keeps chunks of the usual size for later ones. Otherwise each
// spill would leave them to the garbage collector.
func (k *longKeys) reset() {
	for _, chunk := range k.chunks {
		if k.poison {
			poison.Fill(chunk)
		}
		if cap(chunk) == keyChunk {
			k.spare = append(k.spare, chunk[:0])
		} else {
			k.size -= int64(cap(chunk))
		}
	}
	clear(k.chunks)
	k.chunks = k.chunks[:0]
}

// dropSpare gives up the spare chunks.
func (k *longKeys) dropSpare() {
	k.size -= int64(len(k.spare)) * keyChunk
	k.spare = nil
}

// get returns a view of the key of n bytes at a place.
func (k *longKeys) get(place uint64, n int) []byte {
	at := int(uint32(place))
	return k.chunks[place>>32][at : at+n]
}

// loadTail returns a key of up to 16 bytes as two little-endian numbers, padded with zeros.
// It reads only the key's bytes.
func loadTail(key []byte) (a, b uint64) {
	n := len(key)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(key), binary.LittleEndian.Uint64(key[n-8:]) >> (8 * (16 - uint(n)))
	case n >= 4:
		lo, hi := binary.LittleEndian.Uint32(key), binary.LittleEndian.Uint32(key[n-4:])
		return uint64(lo) | uint64(hi)>>(8*(8-uint(n)))<<32, 0
	case n > 0:
		return uint64(key[0]) | uint64(key[n/2])<<(8*uint(n/2)) | uint64(key[n-1])<<(8*uint(n-1)), 0
	}
	return 0, 0
}
