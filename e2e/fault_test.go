package e2e

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/minihdfs"
	"github.com/hammr/hammr/internal/testing/must"
)

// repaired restores the cluster when the test ends.
func repaired(t *testing.T, c *minihdfs.Cluster) {
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		must.Do(t, c.WaitLive(ctx, c.DataNodes()))
	})
}

// faulty is a running job that waits at a gate.
type faulty struct {
	*web
	dir  string // "in" or "out"
	in   []byte
	gate *gate
	p    *process
	out  string // directory of the output on the local disk; "" when it is on HDFS
}

// startFaulty starts the gated program on a file of twelve blocks with three replicas each,
// read as one split, and returns when a task of the phase has processed the given number of
// MiB. A fault in the map phase affects reading alone, because the output is local.
func startFaulty(t *testing.T, phase string, mib int, options ...string) *faulty {
	t.Helper()
	f := &faulty{web: newWeb(t, cluster(t))}
	f.dir = f.web.dir()
	f.in = readFile(t, binaryLines(t, "in", 12<<20))
	f.put(f.dir+"/in", f.in, "replication=3")
	f.replicated(f.dir+"/in", 3)
	names := f.blockNames(f.dir + "/in")
	files := slices.DeleteFunc(blocks(f.c), func(file string) bool { return !slices.Contains(names, filepath.Base(file)) })
	if len(files) != 3*len(names) || len(names) < 12 {
		t.Fatalf("the input has blocks %q in files %q", names, files)
	}
	f.gate = newGate(t, phase, mib<<20)
	name := f.c.URI() + f.dir
	out := name + "/out"
	if phase == "map" {
		f.out = filepath.Join(t.TempDir(), "out")
		out = "file://" + f.out
	}
	f.p = f.gate.start(t, slices.Concat([]string{
		"-D", "mapreduce.input.fileinputformat.split.minsize=64m", "-D", "hammr.hdfs.datanode.timeout=1s", "-D", "hammr.hdfs.write.timeout=5s",
	}, options, []string{name + "/in", out})...)
	f.gate.wait(t, f.p)
	return f
}

// succeeds opens the gate and checks the output.
func (f *faulty) succeeds(t *testing.T) {
	t.Helper()
	f.gate.open()
	r := f.p.wait(t)
	r.want(t, 0)
	t.Logf("the job took %v", r.took.Round(time.Millisecond))
	if f.out != "" {
		wantSame(t, parts(t, f.out, 1), sortedLines(f.in))
		return
	}
	wantSame(t, f.parts(f.dir+"/out", 1), sortedLines(f.in))
}

// TestDataNodesLostWhileReading kills one of three DataNodes and stops another, so that the
// reader is affected now or at the next block.
func TestDataNodesLostWhileReading(t *testing.T) {
	f := startFaulty(t, "map", 1)
	restart(t, f.c, 0)
	must.Do(t, f.c.DataNode(0).Kill())
	must.Do(t, f.c.DataNode(1).Stop())
	t.Cleanup(func() { must.Do(t, f.c.DataNode(1).Continue()) })
	f.succeeds(t)
}

// restart restarts DataNodes when the test ends.
func restart(t *testing.T, c *minihdfs.Cluster, nodes ...int) {
	repaired(t, c)
	t.Cleanup(func() {
		for _, i := range nodes {
			must.Do(t, c.DataNode(i).Restart(context.Background()))
		}
	})
}

// TestFileRemovedDuringJob removes a file that the job has not opened yet. The job fails,
// names the file and leaves no output.
func TestFileRemovedDuringJob(t *testing.T) {
	w := newWeb(t, cluster(t))
	dir := w.dir()
	in := readFile(t, binaryLines(t, "in", 2<<20))
	w.put(dir+"/in/a", in)
	w.put(dir+"/in/b", in)
	g := newGate(t, "map", 1000)
	name := w.c.URI() + dir
	p := g.start(t, "--workers", "1", name+"/in", name+"/out")
	g.wait(t, p)
	w.remove(dir + "/in/b")
	g.open()
	r := p.wait(t)
	r.want(t, 1, name+"/in/b")
	w.nothing(dir + "/out")
}

// TestNoNameNodeAtStart runs a job with an address where no NameNode, or another server,
// listens.
func TestNoNameNodeAtStart(t *testing.T) {
	t.Parallel()
	c := cluster(t)
	for name, fault := range map[string]struct{ address, text string }{
		"wrong port":    {c.Host(0) + ":1", "connection refused"},
		"other service": {c.HTTP(), "does not speak the NameNode's protocol"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := t.TempDir() + "/out"
			r := run(t, "run", "wordcount", "-D", "hammr.hdfs.retry.timeout=2s", "-D", "hammr.hdfs.outage.limit=0", "hdfs://"+fault.address+"/in", out)
			r.want(t, 1, "hdfs://"+fault.address, fault.text)
			noOutput(t, out)
		})
	}
}

// blocks returns the block files of all DataNodes.
func blocks(c *minihdfs.Cluster) (files []string) {
	for i := range c.DataNodes() {
		files = append(files, blocksOf(c, i)...)
	}
	return files
}

// blocksOf returns the block files on the disk of a DataNode.
func blocksOf(c *minihdfs.Cluster, i int) (files []string) {
	filepath.WalkDir(c.DataDir(i), func(name string, _ os.DirEntry, _ error) error {
		if base := filepath.Base(name); strings.HasPrefix(base, "blk_") && !strings.HasSuffix(base, ".meta") {
			files = append(files, name)
		}
		return nil // files appear and disappear
	})
	return files
}

// patience is how long a test waits for something that must happen eventually, on a busy
// machine.
const patience = 3 * time.Minute

// waitUntil waits until a condition holds, and checks it often: a condition calls a daemon or looks at
// files rather than start a command.
func waitUntil(t *testing.T, what string, so func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !so(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waiting in vain until %s", what)
		}
	}
}
