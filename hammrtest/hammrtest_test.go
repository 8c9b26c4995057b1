package hammrtest_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/hammrtest"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestMain(m *testing.M) { hammrtest.Main(m, wordcount.Program()) }

// TestNothingIsLost kills a tasknode and the leader, corrupts a byte of a segment, and stops
// another tasknode, all in the middle of a job.
func TestNothingIsLost(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the daemons' program and starts seven processes")
	}
	c := hammrtest.Cluster(t, 3, 4)
	var text strings.Builder
	for i := range 1600 {
		fmt.Fprintf(&text, "line %d has word%d and word%d\n", i, i%7, i%301)
	}
	in := mrtest.File(t, "in", text.String())
	j := c.Submit(wordcount.Program(), "-D", "hammr.debug.record.sleep=5ms", "-D", "mapreduce.job.reduces=2",
		"-D", "mapreduce.input.fileinputformat.split.maxsize=3k", in, c.Output())
	j.AwaitMaps(30)
	c.CorruptSegment("n1")
	c.Kill("n2")
	gone := c.KillLeader()
	c.Stop("n3")
	if now := c.Leader(); now == "" {
		t.Error("nobody leads")
	}
	c.Continue("n3")
	c.Restart(gone)
	c.Restart("n2")
	j.Succeeds()
	if j.Again() == 0 {
		t.Error("no attempt was made again, though a tasknode is lost")
	}
	j.SameAsUndisturbed()
}

// TestFailpoints crashes a task at the second spill on its machine, and the leader between
// two files of a commit.
func TestFailpoints(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the daemons' program and starts five processes")
	}
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
func TestPartitions(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the daemons' program and starts six processes")
	}
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
