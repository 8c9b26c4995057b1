package hdfs_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
	"github.com/hammr/hammr/storage/storagetest"
)

// TestBlocksHaveHosts writes from the address of each DataNode in turn. The only replica is
// stored on that DataNode, Blocks returns it with its rack, and the reader reads from it.
func TestBlocksHaveHosts(t *testing.T) {
	racks := []string{"/rack1", "/rack1", "/rack2"}
	for i := range 3 {
		c, fsys := connect(t, func(c *minihdfs.Cluster, cfg *hdfs.Config) {
			cfg.LocalAddress, cfg.PenaltyTimeout = c.Host(i), time.Millisecond
		})
		name := newDir(t, fsys) + "/with space & 100%+ü"
		data := storagetest.Pattern(10<<20 + 9)
		create(t, fsys, name, data, storage.CreateOptions{Replication: 1, BlockSize: 4 << 20})
		blocks, err := fsys.Blocks(t.Context(), name, 0, int64(len(data)))
		must.Do(t, err)
		if len(blocks) != 3 || blocks[2].Length != 2<<20+9 {
			t.Fatalf("blocks %v", blocks)
		}
		for _, b := range blocks {
			if !slices.Equal(b.Hosts, []string{c.Host(i)}) || !slices.Equal(b.Racks, []string{racks[i]}) {
				t.Errorf("block %+v, want it on %s in %s", b, c.Host(i), racks[i])
			}
		}
		local := fsys.ReadsFrom(c.Host(i))
		wantData(t, fsys, name, data)
		if sent := local.Bytes.Load(); sent < int64(len(data)) {
			t.Errorf("the local DataNode sent %d of %d bytes", sent, len(data))
		}
	}
}

// TestLocalCopyIsRead stores a replica on every DataNode. The reader must use the DataNode
// with its own address.
func TestLocalCopyIsRead(t *testing.T) {
	for i := range 3 {
		c, fsys := connect(t, func(c *minihdfs.Cluster, cfg *hdfs.Config) {
			cfg.LocalAddress, cfg.PenaltyTimeout = c.Host(i), time.Millisecond // earlier tests have killed this DataNode
		})
		name, data := bigFile(t, fsys)
		waitLocal(t, fsys, name, c.Host(i))
		local := fsys.ReadsFrom(c.Host(i))
		wantData(t, fsys, name, data)
		if sent := local.Bytes.Load(); sent < int64(len(data)) {
			t.Errorf("the local DataNode %d sent %d of %d bytes", i, sent, len(data))
		}
	}
}

// TestConcatPieces concatenates pieces of various sizes, some empty, to an existing, an
// empty and a missing target.
func TestConcatPieces(t *testing.T) {
	_, fsys := connect(t, nil)
	opts := storage.CreateOptions{BlockSize: 1 << 20, Replication: 1}
	sizes := []int{0, 3<<20 + 123, 777, 0, 1 << 20, 2<<20 + 5}
	for _, target := range []int{-1, 0, 99} {
		dir := newDir(t, fsys)
		var want []byte
		if target >= 0 {
			want = storagetest.Pattern(target)
			create(t, fsys, dir+"/whole", want, opts)
		}
		var sources []string
		for i, size := range sizes {
			piece := storagetest.Pattern(size + i)[i:]
			sources = append(sources, fmt.Sprintf("%s/p %d", dir, i))
			create(t, fsys, sources[i], piece, opts)
			want = append(want, piece...)
		}
		must.Do(t, fsys.Concat(t.Context(), dir+"/whole", sources))
		wantData(t, fsys, dir+"/whole", want)
		onlyFile(t, fsys, dir+"/whole")
		blocks, err := fsys.Blocks(t.Context(), dir+"/whole", 0, int64(len(want)))
		must.Do(t, err)
		if end := blocks[len(blocks)-1]; end.Offset+end.Length != int64(len(want)) || len(end.Hosts) != 1 {
			t.Errorf("last block %+v of %d bytes", end, len(want))
		}
	}
}

func TestConcatRefuses(t *testing.T) {
	_, fsys := connect(t, nil)
	dir := newDir(t, fsys)
	data := storagetest.Pattern(2000)
	create(t, fsys, dir+"/f", data, storage.CreateOptions{BlockSize: 1024, Replication: 1})
	create(t, fsys, dir+"/large", data, storage.CreateOptions{BlockSize: 2048, Replication: 1})
	create(t, fsys, dir+"/sub/g", data, storage.CreateOptions{BlockSize: 1024, Replication: 1})
	for _, source := range []string{"/large", "/sub/g"} {
		err := fsys.Concat(t.Context(), dir+"/f", []string{dir + source})
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("concat of %s: %v", source, err)
		}
		wantData(t, fsys, dir+source, data)
	}
	wantData(t, fsys, dir+"/f", data)
}

// TestManySources concatenates files with long names.
func TestManySources(t *testing.T) {
	_, fsys := connect(t, nil)
	dir := newDir(t, fsys) + "/" + strings.Repeat("long", 50)
	var sources []string
	var want []byte
	for i := range 150 {
		sources = append(sources, fmt.Sprintf("%s/%d", dir, i))
		create(t, fsys, sources[i], []byte{byte(i)}, storage.CreateOptions{BlockSize: 1024, Replication: 1})
		want = append(want, byte(i))
	}
	must.Do(t, fsys.Concat(t.Context(), dir+"/whole", sources))
	wantData(t, fsys, dir+"/whole", want)
	onlyFile(t, fsys, dir+"/whole")
}

func TestErasureCodedIsRefused(t *testing.T) {
	_, fsys := connect(t, nil)
	dir := newDir(t, fsys)
	admin := func(method, fields string) {
		t.Helper()
		must.Do(t, fsys.Admin(t.Context(), method, fields))
	}
	admin("enableErasureCodingPolicy", `ecPolicyName: "XOR-2-1-1024k"`)
	admin("setErasureCodingPolicy", fmt.Sprintf(`src: %q ecPolicyName: "XOR-2-1-1024k"`, dir))
	_, err := fsys.Create(t.Context(), dir+"/f", storage.CreateOptions{})
	wantWords(t, err, dir+"/f", "erasure-coded", "-replicate")
	if storagetest.Exists(t, fsys, dir+"/f") {
		t.Error("the refused file is there")
	}
	file := fmt.Sprintf(`src: %q clientName: "other"`, dir+"/g")
	admin("create", file+` masked: {perm: 420} createFlag: 1 createParent: false replication: 1 blockSize: 1048576`)
	admin("complete", file)
	_, err = fsys.Open(t.Context(), dir+"/g")
	wantWords(t, err, dir+"/g", "erasure-coded")
}

func TestQuota(t *testing.T) {
	_, fsys := connect(t, nil)
	dir := newDir(t, fsys)
	must.Do(t, fsys.Admin(t.Context(), "setQuota", fmt.Sprintf("path: %q namespaceQuota: 1 storagespaceQuota: %d", dir, int64(math.MaxInt64))))
	_, err := fsys.Create(t.Context(), dir+"/f", storage.CreateOptions{})
	wantWords(t, err, dir+"/f", "quota is used up", "-setQuota")
}
