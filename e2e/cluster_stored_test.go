package e2e

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestStoredChannelsOutliveTasknodes kills a tasknode whose maps are all finished while
// reduces run on other machines. No map runs again, because the file system of the job's
// output has a copy of their output. The copy is removed when the job ends.
//
// Gate: cluster.TestStoredOutputOutlivesItsMachine, cluster.TestStoredOutputLiesWithTheJobsOutput
func TestStoredChannelsOutliveTasknodes(t *testing.T) {
	testlevel.Nightly(t)
	e := newEngine(t, "--tasknodes", "3")
	in, out := proseFile(t, "prose", 200<<10), filepath.Join(t.TempDir(), "out")
	id := e.submit(slices.Concat([]string{"wordcount"}, slowly, []string{"-D", "hammr.job.channel.stored=true",
		"-D", "mapreduce.job.reduce.slowstart.completedmaps=1.0", "-D", "hammr.debug.record.sleep=2ms", in, out})...)
	var victim string
	waitUntil(t, "all maps are done and reduces run", func() bool {
		doc := e.job(id)
		victim = mapsOnly(doc)
		return victim != ""
	})
	for _, node := range e.state.Tasknodes {
		if node.Name == victim {
			must(t, syscall.Kill(node.PID, syscall.SIGKILL))
		}
	}
	waitUntil(t, "the tasknode is given up", func() bool { return e.nodesIn("LOST") == 1 })
	e.awaitSuccess(id)
	for _, task := range e.job(id).Tasks {
		if task.Type == report.Map && len(task.Attempts) != 1 {
			t.Errorf("%s was tried %d times", task.ID, len(task.Attempts))
		}
	}
	want := filepath.Join(t.TempDir(), "want")
	done(t, "run", "wordcount", "-D", "mapreduce.job.reduces=2", "--quiet", in, want)
	wantSame(t, parts(t, out, 2), parts(t, want, 2))
	if left, _ := filepath.Glob(filepath.Join(out, "_temporary*")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// mapsOnly returns a tasknode that has run maps of a job and runs no reduce, while others
// run reduces. It returns "" if there is none or some maps are not finished.
func mapsOnly(doc report.Report) string {
	var maps, reduces []string
	for _, task := range doc.Tasks {
		for _, a := range task.Attempts {
			switch {
			case task.Type == report.Reduce && a.State == report.Running:
				reduces = append(reduces, a.Tasknode)
			case task.Type == report.Map && a.State != report.Succeeded:
				return ""
			case task.Type == report.Map:
				maps = append(maps, a.Tasknode)
			}
		}
	}
	if len(reduces) < 2 {
		return ""
	}
	for _, node := range maps {
		if !slices.Contains(reduces, node) {
			return node
		}
	}
	return ""
}
