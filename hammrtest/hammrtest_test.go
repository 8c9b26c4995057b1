package hammrtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/examples/wordcount"
	"github.com/hammr/hammr/hammrtest"
	"github.com/hammr/hammr/mr/mrtest"
)

func TestMain(m *testing.M) { hammrtest.Main(m, wordcount.Program()) }

// TestNothingIsLost loses a tasknode, a leader and a byte, and has another
// tasknode stand still, all in the middle of a job.
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

func Example() {
	var t *testing.T // of the test function
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
