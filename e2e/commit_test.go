package e2e

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/hdfs"
)

// audited returns the changes below dir in the order of the NameNode's audit log: "create
// NAME", "rename NAME", "delete NAME", "concat NAME". Names are those after the change,
// relative to dir. It omits the creation of directories.
func audited(t *testing.T, dir string) []string {
	t.Helper()
	var changes []string
	line := regexp.MustCompile(`allowed=true.*\tcmd=(create|rename|delete|concat|append|truncate)[^\t]*\tsrc=([^\t]+)\tdst=([^\t]+)`)
	for l := range strings.Lines(string(readFile(t, filepath.Join(clusterDir, "logs", "namenode.log")))) {
		m := line.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		name := m[2]
		if m[1] == "rename" || m[1] == "concat" {
			name = m[3]
		}
		if below, ok := strings.CutPrefix(name, dir+"/"); ok {
			changes = append(changes, m[1]+" "+below)
		}
	}
	return changes
}

// TestSuccessComesLast reads the NameNode's audit log: each part appears by a rename, then
// _SUCCESS is created, then the empty temporary directory is removed.
func TestSuccessComesLast(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	w.put(dir+"/in", readFile(t, binaryLines(t, "in", 2<<20)))
	name := w.c.URI() + dir
	done(t, "run", "sort", "-r", "3", name+"/in", name+"/out")
	var visible []string
	for _, change := range audited(t, dir+"/out") {
		if !strings.Contains(change, "_temporary/") {
			visible = append(visible, change)
		}
	}
	if len(visible) != 5 {
		t.Fatalf("changes of the output: %v", visible)
	}
	slices.Sort(visible[:3]) // several are renamed concurrently
	want := []string{
		"rename part-r-00000", "rename part-r-00001", "rename part-r-00002", "rename _SUCCESS", "delete _temporary",
	}
	if !slices.Equal(visible, want) {
		t.Errorf("changes of the output: %v, want %v", visible, want)
	}
}

// TestKilledProgramLeavesNothingWhole kills the program, which leaves its temporary files
// but nothing that looks like a result. Another run reports that the directory exists.
func TestKilledProgramLeavesNothingWhole(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	w.put(dir+"/in", readFile(t, binaryLines(t, "in", 3<<20)))
	g := newGate(t, "reduce", 2<<20)
	name := w.c.URI() + dir
	p := g.start(t, name+"/in", name+"/out")
	g.wait(t, p)
	must.Do(t, p.cmd.Process.Kill())
	p.waitOnly(t)
	w.nothingWhole(dir + "/out")
	run(t, "run", "sort", name+"/in", name+"/out").want(t, 1, "Output directory "+name+"/out already exists")
	w.nothingWhole(dir + "/out")
}

// connect opens the cluster as the engine does.
func connect(t *testing.T, c *minihdfs.Cluster) *hdfs.FS {
	t.Helper()
	fsys, err := hdfs.New(t.Context(), hdfs.Config{
		Addresses: []string{c.RPC()}, User: "tester",
		Replication: 1, BlockSize: blockSize,
	})
	must.Do(t, err)
	t.Cleanup(func() { must.Do(t, fsys.Close()) })
	return fsys
}

// TestPiecesAreJoinedByConcat joins the pieces of a checkpointed task as the commit does:
// within the NameNode, with partial blocks and empty pieces, and also when the commit starts
// over after a crash at any step.
func TestPiecesAreJoinedByConcat(t *testing.T) {
	c := cluster(t)
	w, fsys := newWeb(t, c), connect(t, c)
	contents := [][]byte{
		bytes.Repeat([]byte("first "), 300_000), nil, []byte("tiny"), bytes.Repeat([]byte("last\n"), 1), nil,
	}
	dir := w.dir()
	var pieces []storage.Piece
	for i, content := range contents {
		piece := storage.Piece{Path: fmt.Sprintf("%s/_temporary/job/a.part.%03d", dir, i), Length: int64(len(content))}
		w.put(piece.Path, content, "blocksize=1048576", "replication=1")
		pieces = append(pieces, piece)
	}
	target := dir + "/part-r-00000"
	for range 2 { // the second run finds the work done
		must.Do(t, storage.Join(t.Context(), fsys, target, pieces, "job"))
		wantSame(t, w.read(target), bytes.Join(contents, nil))
	}
	if names := w.names(dir + "/_temporary/job"); names != nil {
		t.Errorf("pieces are left: %v", names)
	}
	changes := strings.Join(audited(t, dir), "\n")
	if !strings.Contains(changes, "concat _temporary/job/a.part.000") || !strings.Contains(changes, "rename part-r-00000") {
		t.Errorf("not joined by CONCAT and a rename:\n%s", changes)
	}
}
