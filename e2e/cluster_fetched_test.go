package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestLinesAreWrittenOnceDespiteSalt kills the tasknode that has run the first of two maps. One of two
// reduces has fetched its output. The map runs again and emits other records, which belong to
// other reduces than before. So the reduces start over, and each line of the input is in the output
// exactly once.
func TestLinesAreWrittenOnceDespiteSalt(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	lost := e.newNode("lost", "--dir", t.TempDir(), "--map-slots", "1", "--reduce-slots", "0")
	readers := e.newReaders()
	var want []string
	for i := range 400 {
		want = append(want, fmt.Sprintf("line %03d", i))
	}
	in, out := newFile(t, "lines", []byte(strings.Join(want, "\n")+"\n")), filepath.Join(t.TempDir(), "out")
	d := newDoors(t, 2)
	j := &fetching{e, d.submit(e, in, out, "-D", saltProperty+"=1", "-D", "mapreduce.job.reduces=2", "-D", "mapreduce.job.reduce.slowstart.completedmaps=0")}

	d.wait(0)
	e.newNode("spare", "--dir", t.TempDir(), "--map-slots", "1", "--reduce-slots", "0")
	d.wait(1)
	waitUntil(t, "both reduces run", func() bool {
		return len(childrenOf(readers[0].cmd.Process.Pid)) > 0 && len(childrenOf(readers[1].cmd.Process.Pid)) > 0
	})
	readers[1].signalTasks(syscall.SIGSTOP)
	d.open(0)
	j.reach(1)
	e.lose(lost)
	readers[1].signalTasks(syscall.SIGCONT)
	d.open(1)
	e.awaitSuccess(j.id)

	var got []string
	for _, name := range []string{"part-r-00000", "part-r-00001"} {
		text, err := os.ReadFile(filepath.Join(out, name))
		must.Do(t, err)
		for line := range strings.Lines(string(text)) {
			line, _, _ := strings.Cut(line, "/")
			got = append(got, line)
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%d lines are written, want each of %d once: %q", len(got), len(want), got)
	}
	attempts := 0
	for _, task := range j.job(j.id).Tasks {
		if task.Type == report.Reduce {
			attempts += len(task.Attempts)
		}
	}
	if attempts != 4 {
		t.Errorf("two reduces have %d attempts, want 4: each has begun to read, so each starts over", attempts)
	}
}

// newReaders starts two tasknodes that run one reduce each.
func (e *engine) newReaders() (readers []*handNode) {
	e.t.Helper()
	for _, name := range []string{"reader", "slower"} {
		readers = append(readers, e.newNode(name, "--dir", e.t.TempDir(), "--map-slots", "0", "--reduce-slots", "1"))
	}
	return readers
}

// lose kills a tasknode and waits until the master gives it up.
func (e *engine) lose(n *handNode) {
	e.t.Helper()
	n.kill()
	waitUntil(e.t, "the tasknode is given up", func() bool { return e.nodesIn("LOST") == 1 })
}

// fetching is a job whose reduces are fetching.
type fetching struct {
	*engine
	id string
}

// reach waits until the reduces have reported want fetched outputs in total. It fails if
// they report a larger number.
func (j *fetching) reach(want int64) {
	j.t.Helper()
	var n int64
	waitUntil(j.t, fmt.Sprintf("%d outputs are fetched", want), func() bool {
		n = j.job(j.id).Counters[counter.GroupFramework][counter.ShuffledMaps.Name]
		return n >= want
	})
	if n != want {
		j.t.Fatalf("%d outputs are fetched, want %d", n, want)
	}
}

// signalTasks sends a signal to the tasks of a tasknode.
func (n *handNode) signalTasks(sig syscall.Signal) {
	n.t.Helper()
	tasks := childrenOf(n.cmd.Process.Pid)
	if len(tasks) == 0 {
		n.t.Fatalf("no task runs on %s", n.name)
	}
	for _, pid := range tasks {
		must.Do(n.t, syscall.Kill(pid, sig))
	}
}
