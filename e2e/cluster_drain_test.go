package e2e

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestSIGTERMDrainsATasknode sends SIGTERM to a tasknode with --drain-on-stop while tasks run on it.
// It ends when they have moved, and none of them repeats work.
func TestSIGTERMDrainsATasknode(t *testing.T) {
	t.Parallel()
	e := newEngineWithout(t)
	stopped := e.newNode("stopped", "--dir", t.TempDir(), "--drain-on-stop", "60s")
	e.newNode("other", "--dir", t.TempDir())
	in, dir := fewWords(t, 300, 300), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "--quiet", in, want)
	j := &preempted{e, e.submit(slices.Concat([]string{"wordcount"}, preemptible, []string{in, out})...)}
	waitUntil(t, "a map runs on the tasknode", func() bool {
		return slices.ContainsFunc(j.attempts(report.Map, report.Running), func(a report.Attempt) bool { return a.Tasknode == stopped.name })
	})
	must.Do(t, stopped.cmd.Process.Signal(syscall.SIGTERM))
	stopped.wait(t).want(t, 0)
	j.succeeds()
	wantSameTree(t, out, want)
}
