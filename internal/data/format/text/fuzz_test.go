package text

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/dag"
)

// FuzzLines compares the reader with its dumb twin, for a file in two splits.
func FuzzLines(f *testing.F) {
	for _, s := range texts {
		f.Add([]byte(s), "", uint16(1))
	}
	f.Add([]byte("a||b|||c"), "||", uint16(4))
	f.Fuzz(func(t *testing.T, data []byte, delim string, cut uint16) {
		want := plainLines(data)
		if delim != "" {
			want = plainDelimited(data, []byte(delim))
		}
		head := put(t, "/f", data)
		tail := head
		middle := dag.Position{Offset: int64(cut) % (head.Size + 1)}
		head.Range.End, tail.Range.Start = middle, middle
		open := Lines(Options{Delimiter: []byte(delim)})
		if got := append(readAll(t, open, head), readAll(t, open, tail)...); !slices.Equal(got, want) {
			t.Fatalf("%q by %q cut at %v: %v, want %v", data, delim, middle, got, want)
		}
	})
}
