package storage

import "fmt"

// EvenBlocks is what Blocks returns on a file system that does not place
// blocks: the whole blocks of blockSize bytes, the last one short, that touch
// [offset, offset+length) of a file of size bytes. They have no hosts.
func EvenBlocks(size, blockSize, offset, length int64) ([]Block, error) {
	if offset < 0 || length < 0 || blockSize <= 0 {
		return nil, fmt.Errorf("storage: impossible range of %d bytes at %d in blocks of %d", length, offset, blockSize)
	}
	if offset >= size || length == 0 {
		return nil, nil
	}
	end := size
	if length < size-offset {
		end = offset + length
	}
	first := offset - offset%blockSize
	blocks := make([]Block, 0, (end-1-first)/blockSize+1)
	for at := first; at < end; {
		n := min(blockSize, size-at)
		blocks = append(blocks, Block{Offset: at, Length: n})
		at += n
	}
	return blocks, nil
}
