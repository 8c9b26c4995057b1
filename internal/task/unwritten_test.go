package task

import (
	"context"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/shuffle"
	"github.com/hammr/hammr/storage/mem"
)

// TestUnwrittenIsWhatCollectorsBuffer compares unwritten with the bytes in the collectors
// when the record loop last polled.
func TestUnwrittenIsWhatCollectorsBuffer(t *testing.T) {
	sorted, err := shuffle.NewSortBuffer(context.Background(), shuffle.Options{
		FS: mem.New(mem.Options{}), Path: "/data", Partitions: 1, Memory: 1 << 20, Partition: func([]byte) int { return 0 },
	})
	must.Do(t, err)
	defer sorted.Abort()
	n := &NodeRun{collectors: map[int]*openCollector{0: {Collector: sorted}, 1: {}}}
	look := func() int64 {
		n.collectorBytes.Store(n.inCollectors())
		return n.unwritten()
	}
	if got := look(); got != 0 {
		t.Errorf("%d bytes of nothing", got)
	}
	sorted.Emit([]byte("key"), []byte("value"))
	if got := look(); got < int64(len("keyvalue")) || got > 100 {
		t.Errorf("%d bytes of one record", got)
	}
}
