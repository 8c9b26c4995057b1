package hdfs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/minihdfs"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/storagetest"
)

// wantQuick checks the time of a write during which a DataNode was lost. The limit is less than
// the 12 s for which the NameNode keeps assigning a dead DataNode.
func wantQuick(t *testing.T, took time.Duration) {
	t.Helper()
	t.Logf("the write took %v after the fault", took.Round(time.Millisecond))
	if limit := 10 * time.Second; took > limit {
		t.Errorf("took %v, more than %v", took, limit)
	}
}

// writeAround writes data in pieces and calls fault after half of it, once every complete
// block has all its replicas. Under load the NameNode may assign fewer DataNodes than
// requested; then writeAround starts over with another file. It returns the time that the second
// half took.
func writeAround(t *testing.T, fsys storage.FS, name string, data []byte, opts storage.CreateOptions, fault func()) time.Duration {
	t.Helper()
	half := len(data) / 2
	for range 10 {
		w, err := fsys.Create(t.Context(), name, opts)
		must(t, err)
		writePieces(t, w, data[:half])
		if copied(t, fsys, name, opts.Replication) {
			fault()
			began := time.Now()
			writePieces(t, w, data[half:])
			must(t, w.Close())
			return time.Since(began)
		}
		must(t, w.Abort())
	}
	t.Fatalf("the NameNode never gave out %d DataNodes for every block of %s", opts.Replication, name)
	return 0
}

func writePieces(t *testing.T, w storage.Writer, data []byte) {
	t.Helper()
	for piece := range slices.Chunk(data, len(data)/10) {
		if _, err := w.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
}

// copied reports whether every complete block of a file that is being written reaches the
// given number of replicas within a second.
func copied(t *testing.T, fsys storage.FS, name string, copies int) bool {
	t.Helper()
	for began := time.Now(); time.Since(began) < time.Second; {
		blocks, err := fsys.Blocks(t.Context(), name, 0, 1<<40)
		must(t, err)
		if len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b storage.Block) bool { return len(b.Hosts) < copies }) {
			return true
		}
	}
	return false
}

var twoCopies = storage.CreateOptions{Replication: 2, BlockSize: 4 << 20}

// TestDataNodeKilledWhileWriting kills the first DataNode of the pipeline, and then a later
// one.
func TestDataNodeKilledWhileWriting(t *testing.T) {
	data := storagetest.Pattern(30<<20 + 321)
	t.Run("first", func(t *testing.T) {
		c, fsys := connect(t, localTo(0))
		name := newDir(t, fsys) + "/f"
		wantQuick(t, writeAround(t, fsys, name, data, twoCopies, func() { must(t, c.DataNode(0).Kill()) }))
		wantData(t, fsys, name, data)
		onlyFile(t, fsys, name)
		repair(t, c, 0)
	})
	t.Run("later", func(t *testing.T) {
		c, fsys := connect(t, localTo(0))
		name := newDir(t, fsys) + "/f"
		wantQuick(t, writeAround(t, fsys, name, data, twoCopies, func() { must(t, c.DataNode(2).Kill()) }))
		wantData(t, fsys, name, data)
		onlyFile(t, fsys, name)
		repair(t, c, 2)
	})
}

func TestDataNodeStoppedWhileWriting(t *testing.T) {
	c, fsys := connect(t, localTo(0))
	name := newDir(t, fsys) + "/f"
	data := storagetest.Pattern(30<<20 + 321)
	wantQuick(t, writeAround(t, fsys, name, data, twoCopies, func() { must(t, c.DataNode(0).Stop()) }))
	wantData(t, fsys, name, data)
	onlyFile(t, fsys, name)
	must(t, c.DataNode(0).Continue())
	must(t, c.WaitLive(t.Context(), 3))
}

// TestNameNodeRestartedWhileWriting restarts the NameNode in the middle of a block and at
// the end of the file.
func TestNameNodeRestartedWhileWriting(t *testing.T) {
	c, fsys := connect(t, nil)
	dir := newDir(t, fsys)
	data := storagetest.Pattern(30<<20 + 321)
	within(t, 30*time.Second, func() {
		writeAround(t, fsys, dir+"/f", data, twoCopies, func() {
			must(t, c.NameNode().Kill())
			must(t, c.NameNode().Restart(t.Context()))
		})
	})
	wantData(t, fsys, dir+"/f", data)

	w, err := fsys.Create(t.Context(), dir+"/end", twoCopies)
	must(t, err)
	_, err = w.Write(data[:5<<20])
	must(t, err)
	must(t, c.NameNode().Kill())
	must(t, c.NameNode().Restart(t.Context()))
	must(t, w.Close())
	wantData(t, fsys, dir+"/end", data[:5<<20])
	list, err := fsys.List(t.Context(), dir)
	must(t, err)
	if len(list) != 2 {
		t.Errorf("left behind: %v", list)
	}
	must(t, c.WaitLive(t.Context(), 3))
}

// TestWriteGivesUp writes without a DataNode. The writer returns an error in time, and Abort
// leaves no file.
func TestWriteGivesUp(t *testing.T) {
	c, fsys := connect(t, func(c *minihdfs.Cluster, cfg *hdfs.Config) { cfg.RetryTimeout = 2 * time.Second })
	name := newDir(t, fsys) + "/f"
	for i := range c.DataNodes() {
		must(t, c.DataNode(i).Kill())
	}
	within(t, 15*time.Second, func() {
		w, err := fsys.Create(t.Context(), name, twoCopies)
		must(t, err)
		w.Write(storagetest.Pattern(1 << 20))
		err = w.Close()
		wantWords(t, err, name, "DataNodes")
		must(t, w.Abort())
	})
	if storagetest.Exists(t, fsys, name) {
		t.Error("the file is still there")
	}
	for i := range c.DataNodes() {
		must(t, c.DataNode(i).Restart(t.Context()))
	}
	must(t, c.WaitLive(t.Context(), 3))
}
