package hdfs_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/storagetest"
)

// readAround reads a file and calls fault after a quarter of it.
func readAround(t *testing.T, fsys storage.FS, name string, fault func()) []byte {
	t.Helper()
	f, err := fsys.Open(t.Context(), name)
	must.Do(t, err)
	defer f.Close()
	info, err := fsys.Stat(t.Context(), name)
	must.Do(t, err)
	quarter := make([]byte, info.Size/4)
	_, err = io.ReadFull(f, quarter)
	must.Do(t, err)
	fault()
	rest, err := io.ReadAll(f)
	must.Do(t, err)
	return append(quarter, rest...)
}

// repair restarts DataNode i and waits until the cluster is healthy.
func repair(t *testing.T, c *minihdfs.Cluster, i int) {
	t.Helper()
	must.Do(t, c.DataNode(i).Restart(t.Context()))
	must.Do(t, c.WaitLive(t.Context(), c.DataNodes()))
}

// bigFile writes a file of several blocks, with a replica on every DataNode, that does not
// fit into the buffers of a reader and its sockets.
func bigFile(t *testing.T, fsys storage.FS) (name string, data []byte) {
	t.Helper()
	name = newDir(t, fsys) + "/big"
	data = storagetest.Pattern(48<<20 + 12345)
	create(t, fsys, name, data, storage.CreateOptions{Replication: 3, BlockSize: 8 << 20})
	return name, data
}

// TestDataNodeLostWhileReading loses the local DataNode: stopped before a file is opened, while the NameNode still
// lists it first; stopped and killed in the middle of a file. A reader tries it once more at most. After the penalty
// of a DataNode has expired, readers use the local replica again.
func TestDataNodeLostWhileReading(t *testing.T) {
	c, writer := connect(t, nil)
	name, data := bigFile(t, writer)
	const node = 0
	open := func(t *testing.T, penalty time.Duration) (*hdfs.FS, *hdfs.Reads) {
		_, fsys := connect(t, func(c *minihdfs.Cluster, cfg *hdfs.Config) {
			cfg.LocalAddress, cfg.PenaltyTimeout = c.Host(node), penalty
		})
		return fsys, fsys.ReadsFrom(c.Host(node))
	}
	// reads reads the file from the local DataNode, which fault breaks, and then from others.
	reads := func(t *testing.T, read func(fsys storage.FS, fault func()) []byte, fault func() error) {
		hdfs.ForgetFailures()
		fsys, local := open(t, time.Hour)
		before := int64(0)
		wantSame(t, read(fsys, func() {
			must.Do(t, fault())
			before = local.Dials.Load()
		}), data)
		if n := local.Dials.Load() - before; n > 1 || before+n == 0 {
			t.Errorf("the DataNode was tried %d times before it was lost, and %d times after", before, n)
		}
	}
	around := func(fsys storage.FS, fault func()) []byte { return readAround(t, fsys, name, fault) }
	t.Run("stopped before", func(t *testing.T) {
		reads(t, func(fsys storage.FS, fault func()) []byte {
			fault()
			return readTwice(t, fsys, name, data)
		}, c.DataNode(node).Stop)
		must.Do(t, c.DataNode(node).Continue())
	})
	t.Run("stopped", func(t *testing.T) {
		reads(t, around, c.DataNode(node).Stop)
		must.Do(t, c.DataNode(node).Continue())
	})
	t.Run("killed", func(t *testing.T) {
		reads(t, around, c.DataNode(node).Kill)
		repair(t, c, node)
	})
	fsys, local := open(t, time.Nanosecond)
	waitLocal(t, fsys, name, c.Host(node))
	wantData(t, fsys, name, data)
	if sent := local.Bytes.Load(); sent < int64(len(data)) {
		t.Errorf("the local DataNode sent %d of %d bytes after its penalty", sent, len(data))
	}
}

// readTwice reads a part of a file with ReadAt, and then all of it sequentially.
func readTwice(t *testing.T, fsys storage.FS, name string, data []byte) []byte {
	t.Helper()
	f, err := fsys.Open(t.Context(), name)
	must.Do(t, err)
	defer f.Close()
	at := make([]byte, 100_000)
	_, err = f.ReadAt(at, 20<<20)
	must.Do(t, err)
	wantSame(t, at, data[20<<20:][:len(at)])
	all, err := io.ReadAll(f)
	must.Do(t, err)
	return all
}

// TestCorruptReplica changes a byte in the local replica of a block: the reader gets the
// right bytes from another replica. If there is no other, it reports the corruption.
func TestCorruptReplica(t *testing.T) {
	c, fsys := connect(t, localTo(0))
	dir := newDir(t, fsys)
	data := storagetest.Pattern(3<<20 + 5)
	for _, step := range []struct {
		name     string
		replicas int
		byteAt   int
	}{{"three", 3, 1<<20 + 70_000}, {"early", 3, 10}, {"last", 3, len(data) - 1}, {"one", 1, 2 << 20}} {
		name := dir + "/" + step.name
		data := append([]byte(step.name), data...)
		create(t, fsys, name, data, storage.CreateOptions{Replication: step.replicas, BlockSize: 4 << 20})
		damage(t, c.DataDir(0), data, step.byteAt)
		f, err := fsys.Open(t.Context(), name)
		must.Do(t, err)
		defer f.Close()
		got, err := io.ReadAll(f)
		if step.replicas > 1 {
			must.Do(t, err)
			wantSame(t, got, data)
			continue
		}
		if !errors.Is(err, storage.ErrCorrupt) || !strings.Contains(err.Error(), name) {
			t.Errorf("reading a file whose only copy is damaged: %v", err)
		}
		if !bytes.Equal(got, data[:len(got)]) || len(got) > step.byteAt {
			t.Errorf("%d bytes were handed out before the damage at %d", len(got), step.byteAt)
		}
	}
}

// damage changes one byte of the block file under dir whose content is data.
func damage(t *testing.T, dir string, data []byte, at int) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || !strings.HasPrefix(name, "blk_") || strings.HasSuffix(name, ".meta") {
			return ignoreMissing(err)
		}
		content, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(content, data) {
			return ignoreMissing(err)
		}
		found = true
		content[at] ^= 1
		return os.WriteFile(path, content, 0o644)
	})
	must.Do(t, err)
	if !found {
		t.Fatalf("no block with the %d bytes under %s", len(data), dir)
	}
}

// ignoreMissing ignores files that are removed concurrently.
func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// blockNames returns the names of the block files on all DataNodes.
func blockNames(t *testing.T, c *minihdfs.Cluster) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for i := range c.DataNodes() {
		must.Do(t, filepath.WalkDir(c.DataDir(i), func(_ string, e fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it was deleted or moved meanwhile
			}
			if err == nil && strings.HasPrefix(e.Name(), "blk_") {
				names[e.Name()] = true
			}
			return err
		}))
	}
	return names
}

// TestFileReplacedWhileReading replaces a file by another of the same name, and waits until the DataNodes have
// deleted the blocks of the first. So the reader asks the NameNode for the file again.
func TestFileReplacedWhileReading(t *testing.T) {
	c, fsys := connect(t, localTo(0))
	others := blockNames(t, c)
	name, data := bigFile(t, fsys)
	removed := blockNames(t, c)
	maps.DeleteFunc(removed, func(block string, _ bool) bool { return others[block] })
	f, err := fsys.Open(t.Context(), name)
	must.Do(t, err)
	defer f.Close()
	_, err = io.ReadFull(f, make([]byte, 1000))
	must.Do(t, err)
	must.Do(t, fsys.Remove(t.Context(), name, false))
	must.Do(t, syncutil.Poll(t.Context(), 50*time.Millisecond, func(context.Context) (bool, error) {
		left := blockNames(t, c)
		maps.DeleteFunc(left, func(block string, _ bool) bool { return !removed[block] })
		return len(left) == 0, nil
	}))
	create(t, fsys, name, data[1:], storage.CreateOptions{Replication: 1, BlockSize: 8 << 20})
	if _, err = io.ReadAll(f); err == nil || !strings.Contains(err.Error(), "another file took its place") {
		t.Errorf("reading on in a file that was replaced: %v", err)
	}
}
