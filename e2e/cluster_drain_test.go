package e2e

import (
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/docs/report"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// TestADrainedNodeKeepsNoCheckpoint checkpoints a job, drains the machine that has a
// checkpoint, and kills it. The job resumes from the copies and repeats no work.
//
// Gate: TestACheckpointOutlivesItsMachine, jobmaster.TestCheckpointOfATaskWithoutASlotIsMoved
func TestADrainedNodeKeepsNoCheckpoint(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	e := newEngineWithout(t)
	e.newNode("maps", "--dir", t.TempDir(), "--map-slots", "4", "--reduce-slots", "0")
	drained := e.newNode("drained", "--dir", t.TempDir(), "--map-slots", "0", "--reduce-slots", "1")
	in, dir := fewWords(t, 500, 500), t.TempDir()
	out, want := filepath.Join(dir, "out"), filepath.Join(dir, "want")
	done(t, "run", "wordcount", "--quiet", in, want)
	j := &preempted{e, e.submit(slices.Concat([]string{"wordcount"}, preemptible, []string{in, out})...)}
	waitUntil(t, "the maps are done and the reduce runs", func() bool {
		return len(e.finishedMaps(j.id)) > 0 && len(j.attempts(report.Reduce, report.Running)) > 0
	})
	e.done("job", "suspend", j.id, "--how", "checkpoint")
	waitUntil(t, "the reduce is paused", func() bool { return len(j.attempts(report.Reduce, report.Preempted)) > 0 })
	e.done("node", "drain", "drained", "--deadline", "60s")
	drained.kill()
	e.newNode("spare", "--dir", t.TempDir(), "--map-slots", "0", "--reduce-slots", "1")
	e.done("job", "resume", j.id)
	j.succeeds()
	wantSameTree(t, out, want)
	counters := e.job(j.id).Counters[counter.GroupFramework]
	if groups, records := counters["Reduce input groups"], counters["Reduce output records"]; groups == 0 || groups != records {
		t.Errorf("%d groups, %d records of output: some are reduced twice", groups, records)
	}
	if got, maps := counters[counter.ShuffledMaps.Name], len(e.finishedMaps(j.id)); got != int64(maps) {
		t.Errorf("%d segments fetched of %d maps", got, maps)
	}
	if n := len(j.attempts(report.Reduce, report.Killed)) + len(j.attempts(report.Reduce, report.Failed)); n > 0 {
		t.Errorf("%d attempts began from a checkpoint of no use", n)
	}
}

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
	must(t, stopped.cmd.Process.Signal(syscall.SIGTERM))
	stopped.wait(t).want(t, 0)
	j.succeeds()
	wantSameTree(t, out, want)
}

// TestTheCutOfAGangLeavesADrainedNode drains the machine of a checkpointed gang and kills
// it. The gang resumes from the copies and counts each record once.
//
// Gate: TestGangIsCheckpointedAsAWhole, cluster.TestTheCutOfAGangIsMoved
func TestTheCutOfAGangLeavesADrainedNode(t *testing.T) {
	testlevel.Nightly(t)
	t.Parallel()
	j := startGangJob(t, newEngine(t, "--tasknodes", "3", "--map-slots", "2", "--reduce-slots", "2"))
	members := j.running()
	j.done("job", "suspend", j.id, "--how", "checkpoint")
	j.ended(t, members)
	at := members[0].Tasknode
	j.done("node", "drain", at, "--deadline", "60s")
	j.killNode(at)
	j.done("job", "resume", j.id)
	j.keptAll(t, j.inPeace(t))
}
