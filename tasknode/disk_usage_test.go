package tasknode

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// fullFiles is a disk with little free space.
type fullFiles struct {
	osFiles
	free int64
}

func (f fullFiles) Free(string) (int64, error) { return f.free, nil }

// fill writes a file of so many bytes.
func fill(t *testing.T, path string, bytes int) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, make([]byte, bytes), 0o600))
}

// TestFullDiskIsChargedToTheJobThatFilledIt has an attempt fail on a disk that another job,
// or its own, has filled, and on a disk that is not full at all.
func TestFullDiskIsChargedToTheJobThatFilledIt(t *testing.T) {
	const cause = "write spill0: no space left on device"
	for name, c := range map[string]struct {
		cause      string
		free       int64
		own, other int // bytes
		exited     bool
		text       string
	}{
		"another job":   {cause, 0, 1 << 16, 1 << 20, true, "job_1_0002 occupies"},
		"its own":       {cause, 0, 1 << 20, 1 << 16, false, "more than any other"},
		"a lie":         {cause, 1 << 40, 1 << 16, 1 << 20, false, cause},
		"another cause": {"bad record", 0, 1 << 16, 1 << 20, false, "bad record"},
	} {
		t.Run(name, func(t *testing.T) {
			runOn(t, fullFiles{free: c.free}, nil, func(b *rig) {
				task := b.start(taskproc.Kind_MAP)
				fill(t, filepath.Join(b.attemptDir(), "spill"), c.own)
				fill(t, filepath.Join(b.dir, "job_1_0002", taskdir.InJob("attempt_1_0002_m_000000_0"), "spill"), c.other)
				task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_Failure{Failure: &taskproc.Failure{Cause: c.cause}}})
				task.end(nil)
				r := <-b.reports
				if text := r.GetExited().GetCause() + r.GetFailed().GetCause(); (r.GetExited() != nil) != c.exited || !strings.Contains(text, c.text) {
					t.Errorf("report %v", r)
				}
			})
		})
	}
}

// slowUsage is a disk on which each measurement of a job takes five seconds.
type slowUsage struct {
	osFiles
	calls *atomic.Int32
}

func (f slowUsage) Usage(string) (usage, error) {
	f.calls.Add(1)
	pass(5 * time.Second)
	return nil, nil
}

// TestSlowMeasurementsTakeATenthOfTheTime measures a job for 500 s.
func TestSlowMeasurementsTakeATenthOfTheTime(t *testing.T) {
	disk := slowUsage{calls: new(atomic.Int32)}
	runOn(t, disk, func(c *Config) { c.DiskCheck = time.Second }, func(b *rig) {
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{Start: &taskproc.Start{
			JobId: "job_1_0001", AttemptId: attemptID, Properties: map[string]string{conf.LocalDiskLimit: "1m"},
		}}}})
		<-b.reports // started
		task := <-b.tasks
		pass(500 * time.Second)
		if n := disk.calls.Load(); n < 9 || n > 10 {
			t.Errorf("%d measurements", n)
		}
		task.end(nil)
	})
}

// TestJobAboveItsDiskLimitLosesItsLargestAttempt runs two attempts of a job with a limit. Only
// the larger fails, and a job without a limit may write more.
func TestJobAboveItsDiskLimitLosesItsLargestAttempt(t *testing.T) {
	const small, other = "attempt_1_0001_m_000001_0", "attempt_1_0002_m_000000_0"
	runOn(t, osFiles{}, func(c *Config) { c.DiskCheck = time.Second }, func(b *rig) {
		start := func(job, attempt, limit string) *fakeTask {
			b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{Start: &taskproc.Start{
				JobId: job, AttemptId: attempt, Properties: map[string]string{conf.LocalDiskLimit: limit},
			}}}})
			<-b.reports // started
			return <-b.tasks
		}
		tasks := []*fakeTask{start("job_1_0001", attemptID, "1m"), start("job_1_0001", small, "1m"), start("job_1_0002", other, "")}
		fill(t, filepath.Join(b.attemptDir(), "spill"), 900<<10)
		fill(t, filepath.Join(b.dir, "job_1_0001", taskdir.InJob(small)+".tmp", "file"), 100<<10)
		fill(t, filepath.Join(b.dir, "job_1_0002", taskdir.InJob(other), "spill"), 4<<20)
		pass(5 * time.Second)
		if len(b.reports) != 0 {
			t.Fatalf("report %v", <-b.reports)
		}
		fill(t, filepath.Join(b.dir, "job_1_0001", taskdir.InJob(small), "more"), 200<<10)
		<-tasks[0].ctx.Done()
		tasks[0].end(nil)
		r := <-b.reports
		if cause := r.GetFailed().GetCause(); r.AttemptId != attemptID || !strings.Contains(cause, "limit is 1048576 (hammr.job.local.disk.limit)") {
			t.Errorf("report %v", r)
		}
		pass(5 * time.Second)
		if len(b.reports) != 0 {
			t.Errorf("report %v", <-b.reports)
		}
		tasks[1].end(nil)
		tasks[2].end(nil)
	})
}
