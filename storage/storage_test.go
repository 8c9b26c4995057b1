package storage

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestEvenBlocks compares EvenBlocks with a walk over all blocks of the file.
func TestEvenBlocks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(0, 100).Draw(t, "size")
		blockSize := rapid.Int64Range(1, 40).Draw(t, "block")
		offset := rapid.Int64Range(0, 120).Draw(t, "offset")
		length := rapid.Int64Range(0, 120).Draw(t, "length")
		got, err := EvenBlocks(size, blockSize, offset, length)
		must.Do(t, err)
		for at := int64(0); at < size && length > 0; at += blockSize {
			n := min(blockSize, size-at)
			if at >= offset+length || at+n <= offset || offset >= size {
				continue
			}
			if len(got) == 0 || got[0].Offset != at || got[0].Length != n {
				t.Fatalf("block at %d of %d bytes is missing from %v", at, n, got)
			}
			got = got[1:]
		}
		if len(got) != 0 {
			t.Fatalf("blocks too many: %v", got)
		}
	})
	if _, err := EvenBlocks(10, 5, -1, 3); err == nil {
		t.Error("negative offset gives no error")
	}
}
