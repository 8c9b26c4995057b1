package raftlog

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/hashicorp/raft"

	"github.com/hammr/hammr/internal/testing/must"
)

// TestPendingWriteGrowsWithAStalledDisk looks at a write that takes 5 s.
func TestPendingWriteGrowsWithAStalledDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore(raft.NewInmemStore(), 0, t.Context())
		var during time.Duration
		stall := func() error { time.Sleep(5 * time.Second); during = s.pending(); return nil }
		s.before.Store(&stall)
		must.Do(t, s.StoreLog(&raft.Log{Index: 1}))
		if during != 5*time.Second || s.pending() != 0 {
			t.Errorf("pending for %v during the write, for %v after it", during, s.pending())
		}
	})
}
