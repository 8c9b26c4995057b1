package hdfs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hammr/hammr/storage"
)

// eventually calls check ten times a second until it returns true.
func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for !check() {
		select {
		case <-deadline:
			t.Fatalf("not within 30 s: %s", what)
		case <-tick.C:
		}
	}
}

// waitLocal waits until every block of a file has a replica on host.
func waitLocal(t *testing.T, fsys storage.FS, name, host string) {
	t.Helper()
	eventually(t, "a copy of every block on "+host, func() bool {
		blocks, err := fsys.Blocks(t.Context(), name, 0, 1<<60)
		must(t, err)
		return !slices.ContainsFunc(blocks, func(b storage.Block) bool { return !slices.Contains(b.Hosts, host) })
	})
}
