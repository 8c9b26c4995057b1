package hdfs_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/storagetest"
)

// The NameNode ranks a silent DataNode last, or assigns no blocks to it, only when it is dead. So what a client does
// with a lost DataNode does not depend on how soon it asks.
func TestMain(m *testing.M) {
	os.Exit(minihdfs.Main(leakChecked{m}, minihdfs.Config{DataNodes: 3, BlockSize: 4 << 20, Properties: map[string]string{
		"dfs.namenode.stale.datanode.interval": "3600000",
	}}))
}

// leakChecked runs the tests and then checks for goroutines that the package or the hdfs
// module left running. The cluster stops afterwards.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	status := l.m.Run()
	const cluster = "github.com/hammr/hammr/internal/ops/minihdfs."
	err := goleak.Find(
		goleak.IgnoreAnyFunction(cluster+"(*forwarder).accept"),
		goleak.IgnoreAnyFunction(cluster+"(*forwarder).carry"),
		goleak.IgnoreAnyFunction(cluster+"(*forwarder).carry.func1"),
		goleak.IgnoreAnyFunction("github.com/hammr/hammr/internal/ops/launch.Start.func1"), // waits for a daemon
		goleak.IgnoreAnyFunction("github.com/hammr/hammr/internal/kit/procfs.NewStarter.func1"),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return status
}

// connect returns the shared cluster and a file system on it, with short timeouts of single
// calls. It waits for restarts of daemons, also on a busy machine. Change may adjust its
// configuration.
func connect(t testing.TB, change func(*minihdfs.Cluster, *hdfs.Config)) (*minihdfs.Cluster, *hdfs.FS) {
	t.Helper()
	c := minihdfs.ForTest(t)
	cfg := hdfs.Config{
		Addresses:       []string{c.RPC()},
		User:            "tester",
		NameNodeTimeout: 4 * time.Second,
		DataNodeTimeout: time.Second,
		WriteTimeout:    2 * time.Second, RetryTimeout: 5 * time.Minute,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	if change != nil {
		change(c, &cfg)
	}
	fsys, err := hdfs.New(t.Context(), cfg)
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, fsys.Close()) })
	return c, fsys
}

// localTo sets the source address of connections to the address of DataNode i.
func localTo(i int) func(*minihdfs.Cluster, *hdfs.Config) {
	return func(c *minihdfs.Cluster, cfg *hdfs.Config) { cfg.LocalAddress = c.Host(i) }
}

var directories atomic.Int32

// newDir returns a new directory for the test alone.
func newDir(t testing.TB, fsys storage.FS) string {
	t.Helper()
	dir := fmt.Sprintf("/test/%d", directories.Add(1))
	must.Do(t, fsys.MkdirAll(t.Context(), dir))
	t.Cleanup(func() { must.Do(t, fsys.Remove(context.Background(), dir, true)) })
	return dir
}

// create writes data to a new file.
func create(t testing.TB, fsys storage.FS, name string, data []byte, opts storage.CreateOptions) {
	t.Helper()
	w, err := fsys.Create(t.Context(), name, opts)
	must.Do(t, err)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	must.Do(t, w.Close())
}

func wantData(t testing.TB, fsys storage.FS, name string, want []byte) {
	t.Helper()
	got := storagetest.Read(t, fsys, name)
	wantSame(t, got, want)
}

func wantSame(t testing.TB, got, want []byte) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d bytes, want %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("byte %d of %d is %#x, want %#x", i, len(got), got[i], want[i])
		}
	}
}

// onlyFile checks that a directory contains exactly one file, and no temporary files.
func onlyFile(t testing.TB, fsys storage.FS, name string) {
	t.Helper()
	list, err := fsys.List(t.Context(), path.Dir(name))
	must.Do(t, err)
	if len(list) != 1 || list[0].Path != name {
		t.Errorf("directory holds %v, want only %s", list, name)
	}
}

func TestConformance(t *testing.T) {
	_, fsys := connect(t, nil)
	storagetest.Run(t, func(t testing.TB) (storage.FS, string) { return fsys, newDir(t, fsys) })
}

// TestConformanceOfSmallBlocks uses files of many blocks, and spools every block to a file.
func TestConformanceOfSmallBlocks(t *testing.T) {
	_, fsys := connect(t, func(_ *minihdfs.Cluster, cfg *hdfs.Config) {
		cfg.BlockSize, cfg.Replication, cfg.SpoolMemory = 256<<10, 1, 1000
	})
	storagetest.Run(t, func(t testing.TB) (storage.FS, string) { return fsys, newDir(t, fsys) })
}

func TestSequentialAfterSeek(t *testing.T) {
	_, fsys := connect(t, nil)
	name := newDir(t, fsys) + "/f"
	data := storagetest.Pattern(9<<20 + 77)
	create(t, fsys, name, data, storage.CreateOptions{BlockSize: 1 << 20, Replication: 1})
	f, err := fsys.Open(t.Context(), name)
	must.Do(t, err)
	defer f.Close()
	for _, at := range []int64{0, 5 << 20, 5<<20 + 3, 1<<20 - 1, int64(len(data)) - 5} {
		_, err := f.Seek(at, io.SeekStart)
		must.Do(t, err)
		got := make([]byte, min(2<<20, int64(len(data))-at))
		_, err = io.ReadFull(f, got)
		must.Do(t, err)
		wantSame(t, got, data[at:at+int64(len(got))])
	}
}

// TestCloseWhileStreamsEnd closes a file system while streams that were stopped in the
// middle of a file release their clients. A file that is still open must fail instead of
// reporting its end.
func TestCloseWhileStreamsEnd(t *testing.T) {
	c, fsys := connect(t, nil)
	name := newDir(t, fsys) + "/f"
	create(t, fsys, name, storagetest.Pattern(3<<20), storage.CreateOptions{Replication: 1})
	for range 20 {
		short, err := hdfs.New(t.Context(), hdfs.Config{Addresses: []string{c.RPC()}, User: "tester"})
		must.Do(t, err)
		var f storage.File
		for i := range 4 {
			f, err = short.Open(t.Context(), name)
			must.Do(t, err)
			_, err = io.ReadFull(f, make([]byte, 1))
			must.Do(t, err)
			if i < 3 {
				must.Do(t, f.Close())
			}
		}
		must.Do(t, short.Close())
		rest, err := io.ReadAll(f)
		if err == nil && len(rest) != 3<<20-1 {
			t.Errorf("%d bytes after the file system was closed, and no error", len(rest))
		}
		must.Do(t, f.Close())
	}
}
