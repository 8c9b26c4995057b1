package storage

import "fmt"

// EvenBlocks implements FS.Blocks for a file system that does not place blocks on hosts. It
// returns the blocks of blockSize bytes that overlap [offset, offset+length) of a file of
// size bytes, without hosts. The last block of the file may be shorter.
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
