package hdfs_test

import (
	"slices"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/storagetest"
)

// writeAround writes data in pieces and calls fault after half of it, once every complete
// block has all its replicas. Under load the NameNode may assign fewer DataNodes than
// requested; then writeAround starts over with another file.
func writeAround(t *testing.T, fsys storage.FS, name string, data []byte, opts storage.CreateOptions, fault func()) {
	t.Helper()
	half := len(data) / 2
	for range 10 {
		w, err := fsys.Create(t.Context(), name, opts)
		must.Do(t, err)
		writePieces(t, w, data[:half])
		if copied(t, fsys, name, opts.Replication) {
			fault()
			writePieces(t, w, data[half:])
			must.Do(t, w.Close())
			return
		}
		must.Do(t, w.Abort())
	}
	t.Fatalf("the NameNode never gave out %d DataNodes for every block of %s", opts.Replication, name)
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
// given number of replicas. A block of fewer DataNodes does not, so it asks for a while only.
func copied(t *testing.T, fsys storage.FS, name string, copies int) bool {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for range 100 {
		blocks, err := fsys.Blocks(t.Context(), name, 0, 1<<40)
		must.Do(t, err)
		if len(blocks) > 0 && !slices.ContainsFunc(blocks, func(b storage.Block) bool { return len(b.Hosts) < copies }) {
			return true
		}
		<-tick.C
	}
	return false
}

var twoCopies = storage.CreateOptions{Replication: 2, BlockSize: 4 << 20}

// TestDataNodeLostWhileWriting loses a DataNode of the pipeline in the middle of a block. The writer leaves it out
// then: the NameNode would assign it for another 12 s. How soon the loss is noticed is tested in package pipeline.
func TestDataNodeLostWhileWriting(t *testing.T) {
	data := storagetest.Pattern(30<<20 + 321)
	lose := func(t *testing.T, node int, fault func(*minihdfs.DataNode) error) *minihdfs.DataNode {
		c, fsys := connect(t, localTo(0)) // DataNode 0 is the first of the pipeline, and that of the other rack the second
		name := newDir(t, fsys) + "/f"
		writeAround(t, fsys, name, data, twoCopies, func() { must.Do(t, fault(c.DataNode(node))) })
		if lost := fsys.Suspects(); !slices.Contains(lost, c.Host(node)) {
			t.Errorf("new blocks leave out %v, not %s", lost, c.Host(node))
		}
		wantData(t, fsys, name, data)
		onlyFile(t, fsys, name)
		return c.DataNode(node)
	}
	live := func(t *testing.T) { must.Do(t, minihdfs.ForTest(t).WaitLive(t.Context(), 3)) }
	t.Run("first stopped", func(t *testing.T) {
		must.Do(t, lose(t, 0, (*minihdfs.DataNode).Stop).Continue())
		live(t)
	})
	t.Run("later stopped", func(t *testing.T) {
		must.Do(t, lose(t, 2, (*minihdfs.DataNode).Stop).Continue())
		live(t)
	})
	t.Run("first killed", func(t *testing.T) {
		must.Do(t, lose(t, 0, (*minihdfs.DataNode).Kill).Restart(t.Context()))
		live(t)
	})
	t.Run("later killed", func(t *testing.T) {
		// Gate: TestDataNodeLostWhileWriting, storage/hdfs/pipeline.TestFaults
		testlevel.Nightly(t)
		must.Do(t, lose(t, 2, (*minihdfs.DataNode).Kill).Restart(t.Context()))
		live(t)
	})
}

// TestWriteGivesUp writes while no DataNode answers. The writer returns an error, and Abort leaves no file.
func TestWriteGivesUp(t *testing.T) {
	c, fsys := connect(t, func(c *minihdfs.Cluster, cfg *hdfs.Config) {
		cfg.RetryTimeout, cfg.WriteTimeout = time.Second, time.Second
	})
	name := newDir(t, fsys) + "/f"
	for i := range c.DataNodes() {
		must.Do(t, c.DataNode(i).Stop())
	}
	w, err := fsys.Create(t.Context(), name, twoCopies)
	must.Do(t, err)
	w.Write(storagetest.Pattern(1 << 20))
	err = w.Close()
	wantWords(t, err, name, "DataNodes")
	must.Do(t, w.Abort())
	if storagetest.Exists(t, fsys, name) {
		t.Error("the file is still there")
	}
	for i := range c.DataNodes() {
		must.Do(t, c.DataNode(i).Continue())
	}
	must.Do(t, c.WaitLive(t.Context(), 3))
}
