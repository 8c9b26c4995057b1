package hammrtest_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/hammrtest"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/mr"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestMain(m *testing.M) { hammrtest.Main(m, wordcount.Program(), gated) }

// gateProperty names the socket that is the gate of a job.
const gateProperty = "hammrtest.gate"

// gated counts words. A map with a line that begins with "wait" waits at the gate until the test closes its
// listener, and passes it then.
var gated = mr.New("gated", mr.TextLines(),
	mr.MapFunc(func(t *mr.Task, at int64, line []byte, out mr.Emitter[[]byte, int64]) error {
		if bytes.HasPrefix(line, []byte("wait")) {
			if conn, err := net.Dial("unix", t.Property(gateProperty)); err == nil {
				_, _ = io.ReadAll(conn) // any end of the connection opens the gate
				conn.Close()
			}
		}
		return wordcount.Tokenise(t, at, line, out)
	}),
	mr.Sum[[]byte, int64](), mr.TextOutput[[]byte, int64]())

// newGate returns the listener of a closed gate.
func newGate(t *testing.T) *net.UnixListener {
	t.Helper()
	dir, err := os.MkdirTemp("", "gate-") // the name of a socket must be short
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	gate, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "gate"), Net: "unix"})
	must.Do(t, err)
	t.Cleanup(func() { gate.Close() })
	return gate
}

// awaitAtGate waits until so many maps are at the gate. It returns a function that opens the gate.
func awaitAtGate(t *testing.T, gate *net.UnixListener, maps int) (open func()) {
	t.Helper()
	waiting := []io.Closer{gate}
	for range maps {
		conn, err := gate.Accept()
		must.Do(t, err)
		waiting = append(waiting, conn)
	}
	return func() {
		for _, c := range waiting {
			c.Close()
		}
	}
}

// TestNothingIsLost kills a tasknode and the leader, corrupts a byte of a segment, and stops another tasknode, while
// maps wait in all slots and others are done.
func TestNothingIsLost(t *testing.T) {
	c := hammrtest.Cluster(t, 3, 4)
	gate := newGate(t)
	var text strings.Builder
	for i := range 24 * 32 { // 24 splits of 32 lines, of which the last third waits
		word := "word"
		if i >= 16*32 {
			word = "wait"
		}
		fmt.Fprintf(&text, "%s %04d and %03d and %02d and more\n", word, i, i%301, i%7)
	}
	in := mrtest.File(t, "in", text.String())
	j := c.Submit(gated, "-D", gateProperty+"="+gate.Addr().String(), "-D", "mapreduce.job.reduces=2",
		"-D", fmt.Sprintf("mapreduce.input.fileinputformat.split.maxsize=%d", text.Len()/24), in, c.Output())
	open := awaitAtGate(t, gate, 8) // the map slots of all tasknodes
	j.AwaitMaps(60)
	c.CorruptSegment("n1")
	c.Kill("n2")
	gone := c.KillLeader()
	c.Stop("n3")
	if now := c.Leader(); now == "" {
		t.Error("no master leads")
	}
	c.Continue("n3")
	c.Restart(gone)
	c.Restart("n2")
	open()
	j.Succeeds()
	if j.Again() == 0 {
		t.Error("no attempt was made again, though a tasknode is lost")
	}
	j.SameAsUndisturbed()
}

// TestFailpoints crashes a task at the second spill on its machine, and the leader between
// two files of a commit.
//
// Gate: TestRefused, internal/rpc/faultrpc.TestFaultsArrive, internal/kit/failpoint.TestErrorAtEachHitOrAtOne, e2e.TestLeaderLostInCommit
func TestFailpoints(t *testing.T) {
	testlevel.Nightly(t)
	c := hammrtest.Cluster(t, 3, 2)
	in := mrtest.File(t, "in", strings.Repeat("a b c d e f g\n", 400))
	leader := c.Leader()
	c.Failpoint("n1", "task/spill", "crash@2")
	c.Failpoint("n2", "task/done", "error@1")
	c.Failpoint(leader, "jobmaster/commit-file", "crash@2")
	c.JumpClock("n2", time.Hour)
	j := c.Submit(wordcount.Program(), "-D", "mapreduce.job.reduces=3", "-D", "mapreduce.input.fileinputformat.split.maxsize=1k", in, c.Output())
	c.AwaitHit("n1", "task/spill", 2)
	c.AwaitHit("n2", "task/done", 1)
	j.Succeeds()
	if now := c.Leader(); now == leader {
		t.Errorf("%s leads, which was to crash in the commit", now)
	}
	if j.Again() < 2 {
		t.Errorf("%d attempts were made again, after the ends of two", j.Again())
	}
	j.SameAsUndisturbed()
}

// TestPartitions cuts off a tasknode and the leader while another tasknode's disk is slow
// and sometimes fails.
//
// Gate: sim.TestPartitionedTasknode, internal/ops/netns.TestCutAndRemove, internal/kit/failpoint.TestIOErrors
func TestPartitions(t *testing.T) {
	testlevel.Nightly(t)
	if !hammrtest.Networks(t) {
		return
	}
	c := hammrtest.Cluster(t, 3, 3)
	in := mrtest.File(t, "in", strings.Repeat("a b c d e f g\n", 1600))
	j := c.Submit(wordcount.Program(), "-D", "hammr.debug.record.sleep=5ms", "-D", "mapreduce.job.reduces=2",
		"-D", "mapreduce.input.fileinputformat.split.maxsize=2k", in, c.Output())
	c.SlowDisk("n3", time.Millisecond)
	c.IOErrors("n3", 200)
	j.AwaitMaps(30)
	leader := c.Leader()
	c.Partition("n1")
	c.Partition(leader)
	c.OtherLeader(leader)
	c.Heal(leader)
	c.Heal("n1")
	c.IOErrors("n3", 0)
	j.Succeeds()
	j.SameAsUndisturbed()
}

func Example() {
	var t *testing.T // the argument of the test function
	if t == nil {
		return
	}
	c := hammrtest.Cluster(t, 3, 4)
	job := c.Submit(wordcount.Program(), mrtest.File(t, "in", "a b a\n"), c.Output())
	job.AwaitMaps(50)
	c.KillLeader()
	job.Succeeds()
	job.SameAsUndisturbed()
	// Output:
}
