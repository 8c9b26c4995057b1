package tasknode

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
)

// finish runs an attempt that prints a line and leaves segments.
func (b *rig) finish(attempt string) {
	b.t.Helper()
	b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
		Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: attempt},
	}}})
	<-b.reports // started
	task := <-b.tasks
	m, err := task.Receive()
	must.Do(b.t, err)
	dir := m.GetStart().LocalDir
	writeLog(b.t, filepath.Dir(taskdir.LogDir(dir)), attempt, "stdout", "hello\n")
	output := writeSegments(b.t, dir)
	task.send(b.t, &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{Outputs: []*taskproc.MapOutput{output}}}})
	task.end(nil)
	if r := <-b.reports; r.GetFinished() == nil || r.AttemptId != attempt {
		b.t.Fatalf("report %v", r)
	}
}

// largestDir returns the directory with most entries, of all below dir.
func largestDir(t *testing.T, dir string) (largest string, most int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.IsDir() {
			return err
		}
		entries, err := os.ReadDir(path)
		if len(entries) > most {
			largest, most = path, len(entries)
		}
		return err
	})
	must.Do(t, err)
	return largest, most
}

// TestDirectoriesOfALargeJobAreBounded finishes more than 1,000 tasks of two stages. The largest directory
// has the directories and records of the attempts of 1,000 tasks. A restarted daemon retains them
// all, and removes them with the job.
func TestDirectoriesOfALargeJobAreBounded(t *testing.T) {
	const limit = 2 * 1000
	var attempts []string
	for _, stage := range []struct {
		name  string
		tasks int
	}{{"m", testlevel.Choose(1050, 3000)}, {"s1", testlevel.Choose(50, 3000)}} {
		for i := range stage.tasks {
			attempts = append(attempts, fmt.Sprintf("attempt_1_0001_%s_%06d_0", stage.name, i))
		}
	}
	restarts(t, func(b *rig, _ *wire.Report_Joined) {
		for _, attempt := range attempts {
			b.finish(attempt)
		}
		synctest.Wait()
		if dir, n := largestDir(t, b.dir); n != limit {
			t.Errorf("%s has %d entries, the largest may have %d", dir, n, limit)
		}
		if dir, n := largestDir(t, filepath.Join(b.dir, "job_1_0001", taskdir.Logs)); n != 1000 {
			t.Errorf("%s has %d entries", dir, n)
		}
	}, func(b *rig, joined *wire.Report_Joined) {
		if !slices.Equal(joined.Retained, attempts) {
			t.Errorf("%d attempts of %d are retained", len(joined.Retained), len(attempts))
		}
		b.removeJob()
		synctest.Wait()
		if got := b.files(); len(got) != 0 || b.jobs() != 0 || len(b.daemon.retained)+len(b.daemon.knownOf) != 0 {
			t.Errorf("%d files and %d entries of tables left", len(got), b.jobs())
		}
	})
}

// TestAttemptsAreRecoveredFromTheirShards starts a daemon with attempts in shards. An attempt in the shard of another, or in
// none, is an orphan.
func TestAttemptsAreRecoveredFromTheirShards(t *testing.T) {
	const resent, dropped, misplaced, loose = "attempt_1_0001_m_001001_0", "attempt_1_0001_m_000002_0", "attempt_1_0001_m_000003_0", "attempt_1_0001_m_000004_0"
	retain := func(dir string) {
		must.Do(t, os.MkdirAll(dir, 0o700))
		last := &wire.Report{AttemptId: filepath.Base(dir), Report: &wire.Report_Finished{Finished: &taskproc.Finished{
			Outputs: []*taskproc.MapOutput{writeSegments(t, dir)},
		}}}
		must.Do(t, writeRecord(dir, last))
	}
	var job string
	exist := func(dirs ...string) error {
		var errs []error
		for _, dir := range dirs {
			for _, path := range []string{filepath.Join(job, dir, "map.out"), filepath.Join(job, dir) + recordSuffix} {
				_, err := os.Stat(path)
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}
	restarts(t, func(b *rig, _ *wire.Report_Joined) {
		b.finishMap()
		job = taskdir.JobDir(b.attemptDir())
		retain(filepath.Join(job, taskdir.InJob(resent)))
		retain(filepath.Join(job, taskdir.InJob(dropped)))
		retain(filepath.Join(job, "m_001000", misplaced))
		retain(filepath.Join(job, loose))
	}, func(b *rig, joined *wire.Report_Joined) {
		if !slices.Equal(joined.Retained, []string{attemptID, dropped, resent}) {
			t.Errorf("retained: %v", joined.Retained)
		}
		b.orders.Put(&wire.Order{Order: &wire.Order_ResendReport_{ResendReport: &wire.Order_ResendReport{AttemptId: resent}}})
		if r := <-b.reports; r.GetFinished() == nil || r.AttemptId != resent {
			t.Errorf("report %v", r)
		}
		b.orders.Put(&wire.Order{Order: &wire.Order_DropCopy_{DropCopy: &wire.Order_DropCopy{JobId: "job_1_0001", AttemptId: dropped}}})
		synctest.Wait()
		if err := exist(taskdir.InJob(attemptID), taskdir.InJob(resent)); err != nil {
			t.Error(err)
		}
		for _, gone := range []string{taskdir.InJob(dropped), filepath.Join("m_001000", misplaced), loose} {
			if left, err := filepath.Glob(filepath.Join(job, gone) + "*"); err != nil || len(left) > 0 {
				t.Errorf("left: %v, %v", left, err)
			}
		}
		b.removeJob()
		synctest.Wait()
		if got := b.files(); len(got) != 0 {
			t.Errorf("files left: %v", got)
		}
	})
}

// TestForgottenJobLeavesTheAttemptsOfOthers ends one of two jobs.
func TestForgottenJobLeavesTheAttemptsOfOthers(t *testing.T) {
	run(t, func(b *rig) {
		b.finishMap()
		b.orders.Put(&wire.Order{Order: &wire.Order_Kill{Kill: &wire.Order_KillAttempt{AttemptId: "attempt_1_0002_m_000000_0", Cause: "enough"}}})
		<-b.reports // it has exited
		b.removeJob()
		synctest.Wait()
		checked := make(chan struct{})
		b.daemon.CheckLoop(func() {
			defer close(checked)
			if d := b.daemon; len(d.known) != 1 || d.known["attempt_1_0002_m_000000_0"] != "job_1_0002" || len(d.knownOf) != 1 || len(d.retained) != 0 {
				t.Errorf("known %v, by job %v, retained %v", d.known, d.knownOf, d.retained)
			}
		})
		<-checked
	})
}
