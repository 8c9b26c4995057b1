package shuffle

import (
	"slices"
	"strings"
	"testing"
)

// TestSorterSortsShorterKeyFirst sorts equal keys, the last of which is cut off.
func TestSorterSortsShorterKeyFirst(t *testing.T) {
	long := strings.Repeat("the same key for all", 2)
	b := newBatch(make([]byte, 64<<10), &Options{Partitions: 1})
	for _, key := range slices.Concat(slices.Repeat([]string{long}, 100), []string{long[:25]}) {
		b.add(0, []byte(key), nil, recordLen(len(key), 0))
	}
	if first := b.keyOf(b.sorted()[0][0].at); string(first) != long[:25] {
		t.Fatalf("the first key is %q", first)
	}
}
