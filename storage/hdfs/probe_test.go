package hdfs_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
)

// waitLocal waits until every block of a file has a replica on host.
func waitLocal(t *testing.T, fsys storage.FS, name, host string) {
	t.Helper()
	must.Do(t, syncutil.Poll(t.Context(), 50*time.Millisecond, func(ctx context.Context) (bool, error) {
		blocks, err := fsys.Blocks(ctx, name, 0, 1<<60)
		return !slices.ContainsFunc(blocks, func(b storage.Block) bool { return !slices.Contains(b.Hosts, host) }), err
	}))
}
