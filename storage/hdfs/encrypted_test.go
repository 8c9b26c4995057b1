package hdfs_test

import (
	"context"
	"io"
	"net"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/storagetest"
)

// TestEncryptedWrite writes blocks on a cluster that encrypts them on the network
// (dfs.encrypt.data.transfer). Its DataNode refuses connections without SASL, so a pipeline
// that did not authenticate, or did not encrypt, would fail. Close compares the length with
// the NameNode's.
func TestEncryptedWrite(t *testing.T) {
	minihdfs.ForTest(t) // skips the test without Java
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	c, err := minihdfs.Start(ctx, minihdfs.Config{Dir: t.TempDir(), DataNodes: 1, BlockSize: 1 << 20, Properties: map[string]string{
		"dfs.block.access.token.enable": "true", "dfs.encrypt.data.transfer": "true",
	}})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	wantRefused(t, net.JoinHostPort(c.Host(0), "9866"))
	fsys, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{c.RPC()}, User: "tester"})
	must.Do(t, err)
	create(t, fsys, "/encrypted", storagetest.Pattern(5<<20/2+1), storage.CreateOptions{Replication: 1})
	must.Do(t, fsys.Close())
}

// wantRefused checks that a DataNode closes a connection that begins with a plain request.
func wantRefused(t *testing.T, address string) {
	t.Helper()
	conn, err := (&net.Dialer{Timeout: time.Minute}).DialContext(t.Context(), "tcp", address)
	must.Do(t, err)
	defer conn.Close()
	must.Do(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = conn.Write([]byte{0, 28, 81, 0}) // version, READ_BLOCK, an empty message
	must.Do(t, err)
	if answer, err := io.ReadAll(conn); err != nil || len(answer) > 0 {
		t.Errorf("a plain request got %q (%v)", answer, err)
	}
}
