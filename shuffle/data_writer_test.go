package shuffle

import (
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage/mem"
)

// TestEveryRecordOfAMapFitsATaggedRun checks the longest record that a map may write: a reduce
// that merges it into a tagged run adds a tag. Nothing is copied, so no memory is touched.
func TestEveryRecordOfAMapFitsATaggedRun(t *testing.T) {
	w, err := createData(t.Context(), mem.New(mem.Options{}), "/data", None)
	must.Do(t, err)
	w.beginRun(nil)
	longest := maxBlockRaw - uvarintLen(maxRanks-1)
	if w.reserve(longest+1) != nil || w.err == nil || w.longest() != longest {
		t.Errorf("a record of %d bytes is accepted, and with a tag it is longer than a block of %d", longest+1, maxBlockRaw)
	}
	w.beginRun(make([]rank, 1))
	if w.longest() != maxBlockRaw {
		t.Errorf("the longest record with its tag has %d bytes, and a block %d", w.longest(), maxBlockRaw)
	}
}
