package tasknode

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/data/taskdir"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/logs/joblog"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/internal/testing/testlevel"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
	"github.com/hammr/hammr/storage/mem"
)

const jobLogDir = "mem:///logs/2025-11-21/job_1_0001"

// aggregatorOn returns the aggregator of machine n, which writes to a file system.
func aggregatorOn(fsys storage.FS) *LogAggregator {
	return &LogAggregator{
		Machine: "n",
		Resolve: func(_ context.Context, name string) (storage.FS, string, error) {
			return fsys, strings.TrimPrefix(name, "mem://"), nil
		},
	}
}

// writeLog writes a log below a directory of logs.
func writeLog(t *testing.T, dir, attempt, stream, text string) {
	t.Helper()
	path := filepath.Join(dir, attempt, stream)
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)))
}

// wantLogs compares the files in the job's directory, and the text of logs by ATTEMPT/STREAM.
func wantLogs(t *testing.T, fsys storage.FS, files []string, logs map[string]string) {
	t.Helper()
	list, err := fsys.List(t.Context(), strings.TrimPrefix(jobLogDir, "mem://"))
	if err != nil && len(files) > 0 {
		t.Error(err)
	}
	var names []string
	for _, e := range list {
		names = append(names, filepath.Base(e.Path))
	}
	if !slices.Equal(names, files) {
		t.Errorf("files %v, want %v", names, files)
	}
	dir, err := joblog.OpenDir(t.Context(), fsys, strings.TrimPrefix(jobLogDir, "mem://"))
	must.Do(t, err)
	for name, want := range logs {
		attempt, stream, _ := strings.Cut(name, "/")
		if text, err := dir.Read(t.Context(), "n", attempt, stream); string(text) != want || err != nil {
			t.Errorf("%s: %.100q, %v; want %.100q", name, text, err, want)
		}
	}
}

func TestLogsOfAJobAreOneFile(t *testing.T) {
	kept, a, b := mem.New(mem.Options{}), t.TempDir(), t.TempDir()
	k := aggregatorOn(kept)
	logs := JobLogs{Job: "job_1_0001", Dir: jobLogDir, Local: []string{a, b, filepath.Join(b, "missing")}}
	writeLog(t, a, "attempt_1_0001_m_000000_0", "stdout", "")
	if err := k.Aggregate(t.Context(), logs); err != nil {
		t.Errorf("no logs: %v", err)
	}
	wantLogs(t, kept, nil, nil)
	must.Do(t, os.Symlink("/etc/passwd", filepath.Join(a, "attempt_1_0001_m_000000_0", "stderr")))
	want := make(map[string]string)
	for i := range testlevel.Choose(600, 2500) {
		attempt := fmt.Sprintf("attempt_1_0001_m_%06d_0", i+1)
		writeLog(t, filepath.Join([2]string{a, b}[i%2], filepath.Dir(taskdir.InJob(attempt))), attempt, "stderr", attempt+"\n")
		want[attempt+"/stderr"] = attempt + "\n"
	}
	if err := k.Aggregate(t.Context(), logs); err == nil || !strings.Contains(err.Error(), "000000_0/stderr") || storage.Unavailable(err) {
		t.Errorf("a log that is a link: %v, want its error", err)
	}
	wantLogs(t, kept, []string{"n.logs"}, want)
	writeLog(t, filepath.Join(a, "m_000000"), "attempt_1_0001_m_000001_0", "stderr", "changed\n")
	if err := k.Aggregate(t.Context(), logs); err == nil {
		t.Error("the second time the link has no error")
	}
	wantLogs(t, kept, []string{"n.logs"}, want)
}

// TestLogsAreCompleteOrAbsent makes each call of the file system fail in turn. Then the file
// is absent, or complete after another try.
func TestLogsAreCompleteOrAbsent(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{"a1/stdout": "one\n", "a2/stderr": strings.Repeat("two\n", 50000)}
	writeLog(t, dir, "a1", "stdout", want["a1/stdout"])
	writeLog(t, dir, "a2", "stderr", want["a2/stderr"])
	logs := JobLogs{Job: "job_1_0001", Dir: jobLogDir, Local: []string{dir}}
	probe := fault.New(mem.New(mem.Options{}), fault.Options{})
	if err := aggregatorOn(probe).Aggregate(t.Context(), logs); err != nil || probe.Calls() < 5 {
		t.Fatalf("%d calls, %v", probe.Calls(), err)
	}
	for n := 1; n <= probe.Calls(); n++ {
		kept := mem.New(mem.Options{})
		away := fault.New(kept, fault.Options{}, fault.Rule{Nth: n, Crash: true})
		if err := aggregatorOn(away).Aggregate(t.Context(), logs); err == nil {
			t.Errorf("no error of call %d", n)
		}
		if _, err := kept.Stat(t.Context(), "/logs/2025-11-21/job_1_0001/n.logs"); err == nil && n < probe.Calls() {
			t.Errorf("a file after the error of call %d", n)
		}
		if err := aggregatorOn(kept).Aggregate(t.Context(), logs); err != nil {
			t.Errorf("second try after the error of call %d: %v", n, err)
		}
		d, err := joblog.OpenDir(t.Context(), kept, "/logs/2025-11-21/job_1_0001")
		must.Do(t, err)
		for name, text := range want {
			attempt, stream, _ := strings.Cut(name, "/")
			if got, err := d.Read(t.Context(), "n", attempt, stream); string(got) != text || err != nil {
				t.Errorf("after the error of call %d: %s is %.20q, %v", n, name, got, err)
			}
		}
	}
}

func TestLogsAreNotWrittenToAForbiddenDirectory(t *testing.T) {
	kept, dir := mem.New(mem.Options{}), t.TempDir()
	writeLog(t, dir, attemptID, "stdout", "hello\n")
	k := aggregatorOn(kept)
	k.Check = func(context.Context, string) error { return os.ErrPermission }
	if err := k.Aggregate(t.Context(), JobLogs{Dir: jobLogDir, Local: []string{dir}}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("error %v", err)
	}
	wantLogs(t, kept, nil, nil)
}

// printed starts a map, prints a line as its process would, and ends it.
func (b *rig) printed(text string) {
	b.t.Helper()
	task := b.start(taskproc.Kind_MAP)
	writeLog(b.t, filepath.Dir(taskdir.LogDir(b.attemptDir())), attemptID, "stdout", text)
	task.end(nil)
	<-b.reports
}

// jobs returns the number of jobs and attempts that the daemon knows.
func (b *rig) jobs() (n int) {
	answered := make(chan struct{})
	b.daemon.CheckLoop(func() {
		n = len(b.daemon.jobs) + len(b.daemon.known)
		close(answered)
	})
	<-answered
	return n
}

// awayFS is a file system that is not available until a time.
type awayFS struct {
	storage.FS
	until time.Time
	calls int
}

func (f *awayFS) Create(ctx context.Context, path string, o storage.CreateOptions) (storage.Writer, error) {
	f.calls++
	if time.Now().Before(f.until) {
		return nil, storage.MarkUnavailable(errors.New("no NameNode answers"))
	}
	return f.FS.Create(ctx, path, o)
}

func TestJobWritesItsLogsAtItsEnd(t *testing.T) {
	kept := mem.New(mem.Options{})
	runOn(t, nil, func(c *Config) { c.AggregateLogs = aggregatorOn(kept).Aggregate }, func(b *rig) {
		b.logDir = jobLogDir
		b.printed("hello\n")
		synctest.Wait()
		wantLogs(t, kept, nil, nil)
		b.removeJob()
		synctest.Wait()
		wantLogs(t, kept, []string{"n.logs"}, map[string]string{attemptID + "/stdout": "hello\n"})
		if got := b.files(); len(got) != 0 || b.jobs() != 0 {
			t.Errorf("left after the job: %v, %d jobs", got, b.jobs())
		}
	})
}

func TestJobThatPrintsNothingWritesNoFile(t *testing.T) {
	run(t, func(b *rig) {
		b.logDir = jobLogDir
		b.start(taskproc.Kind_MAP).end(nil)
		<-b.reports
		b.removeJob()
		synctest.Wait()
		if got := b.files(); len(got) != 0 || len(b.logs) != 0 {
			t.Errorf("files %v, aggregated %v", got, b.logs)
		}
	})
}

// TestLogsWaitForTheFileSystem ends a job while the file system is away for five minutes. Its
// other files are removed at once, and its logs when they are copied.
func TestLogsWaitForTheFileSystem(t *testing.T) {
	kept := &awayFS{FS: mem.New(mem.Options{})}
	runOn(t, nil, func(c *Config) { c.AggregateLogs = aggregatorOn(kept).Aggregate }, func(b *rig) {
		b.logDir = jobLogDir
		b.printed("hello\n")
		kept.until = time.Now().Add(5 * time.Minute)
		b.removeJob()
		pass(4 * time.Minute)
		if got := b.files(); !slices.Equal(got, []string{
			"job_1_0001", "job_1_0001/logdir", "job_1_0001/logs", "job_1_0001/logs/m_000000", "job_1_0001/logs/m_000000/" + attemptID, "job_1_0001/logs/m_000000/" + attemptID + "/stdout",
		}) {
			t.Errorf("files while the file system is away: %v", got)
		}
		b.removeJob() // a master repeats its orders
		pass(2 * time.Minute)
		wantLogs(t, kept, []string{"n.logs"}, map[string]string{attemptID + "/stdout": "hello\n"})
		if got := b.files(); len(got) != 0 || kept.calls > 30 {
			t.Errorf("files %v after %d tries", got, kept.calls)
		}
	})
}

func TestLogsAreGivenUpAfterALimit(t *testing.T) {
	kept := &awayFS{FS: mem.New(mem.Options{})}
	runOn(t, nil, func(c *Config) { c.AggregateLogs = aggregatorOn(kept).Aggregate }, func(b *rig) {
		b.logDir = jobLogDir
		b.printed("hello\n")
		kept.until = time.Now().Add(time.Hour)
		b.removeJob()
		pass(aggregateTimeout + time.Second)
		if got := b.files(); len(got) != 0 || b.jobs() != 0 {
			t.Errorf("files %v, %d jobs after the limit", got, b.jobs())
		}
	})
}

// TestSlowLogsBlockNothing copies logs to a file system that does not answer. Heartbeats
// continue and another job runs. The job that waits accepts no attempt.
func TestSlowLogsBlockNothing(t *testing.T) {
	runOn(t, nil, func(c *Config) { c.Heartbeat = time.Second }, func(b *rig) {
		b.keep, b.logDir = make(chan struct{}), jobLogDir
		b.printed("hello\n")
		b.removeJob()
		b.awaitBeats(60)
		synctest.Wait()
		if len(b.logs) != 1 || b.logs[0].Dir != jobLogDir || !slices.Equal(b.logs[0].Local, []string{filepath.Join(b.dir, "job_1_0001", "logs")}) {
			t.Errorf("logs to aggregate: %v", b.logs)
		}
		for job, want := range map[string]bool{"1_0001": false, "1_0002": true} {
			b.orders.Put(startOrder("job_"+job, "attempt_"+job+"_m_000009_0"))
			reports := b.awaitBeats(2)
			if len(reports) != 1 || (reports[0].GetStarted() != nil) != want {
				t.Errorf("start of an attempt of %s: %v", job, reports)
			}
		}
		(<-b.tasks).end(nil)
		close(b.keep)
		synctest.Wait()
		if got := b.files(); slices.Contains(got, "job_1_0001") {
			t.Errorf("files after the aggregation: %v", got)
		}
	})
}

// TestFewJobsAggregateAtOnce ends ten jobs at once.
func TestFewJobsAggregateAtOnce(t *testing.T) {
	var now, most atomic.Int64
	slow := func(ctx context.Context, _ JobLogs) error {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer now.Add(-1)
		return syncutil.Sleep(ctx, time.Second)
	}
	runOn(t, nil, func(c *Config) { c.AggregateLogs = slow }, func(b *rig) {
		for i := range 10 {
			d := b.daemon
			id := fmt.Sprintf("job_1_%04d", i)
			writeLog(t, filepath.Join(b.dir, id, taskdir.Logs), "attempt", "stdout", "text")
			d.inbox.Put(func() {
				d.job(id).logDir = jobLogDir
				d.removeJob(id)
			})
		}
		pass(2500 * time.Millisecond)
		synctest.Wait()
		if left := b.jobs(); most.Load() != maxAggregations || left != 2 {
			t.Errorf("%d at once, %d left after two rounds", most.Load(), left)
		}
		pass(time.Second)
		synctest.Wait()
		if left := b.files(); len(left) != 0 {
			t.Errorf("files %v", left)
		}
	})
}

// TestLogsSurviveARestart ends the daemon before the job is over, and again while the logs are
// copied. The third start copies them.
func TestLogsSurviveARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &rig{
			t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](), logDir: jobLogDir,
			reports: make(chan *wire.Report, 100), tasks: make(chan *fakeTask, 100),
		}
		b.run(func(*wire.Report_Joined) { b.printed("hello\n") })
		for len(b.reports) > 0 {
			<-b.reports
		}
		b.keep = make(chan struct{})
		b.run(func(joined *wire.Report_Joined) {
			if !slices.Equal(joined.GetJobs(), []string{"job_1_0001"}) {
				t.Errorf("joined with %v", joined)
			}
			b.removeJob()
			synctest.Wait()
			if len(b.logs) != 1 {
				t.Error("the logs are not copied")
			}
		})
		for len(b.reports) > 0 {
			<-b.reports
		}
		kept := mem.New(mem.Options{})
		b.change = func(c *Config) { c.AggregateLogs = aggregatorOn(kept).Aggregate }
		b.run(func(*wire.Report_Joined) {
			b.removeJob()
			synctest.Wait()
		})
		wantLogs(t, kept, []string{"n.logs"}, map[string]string{attemptID + "/stdout": "hello\n"})
		if got := b.files(); len(got) != 0 {
			t.Errorf("files %v", got)
		}
	})
}

func TestLogDirIsNotedOnce(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"", jobLogDir, "mem:///other"} {
		must.Do(t, writeLogDir(dir, name))
	}
	if name, err := readLogDir(dir); name != jobLogDir || err != nil {
		t.Errorf("noted %q, %v", name, err)
	}
	if err := writeLogDir(filepath.Join(dir, "missing"), "x"); err == nil {
		t.Error("noted in a missing directory")
	}
	if name, err := readLogDir(filepath.Join(dir, "missing")); name != "" || err != nil {
		t.Errorf("read %q, %v", name, err)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, logDirName), make([]byte, maxLogDir+1), 0o600))
	if _, err := readLogDir(dir); err == nil {
		t.Error("a name without a limit was read")
	}
}

// TestUnreadableLogLosesItsRestOnly reads a log that fails in its middle.
func TestUnreadableLogLosesItsRestOnly(t *testing.T) {
	log := &localLog{Reader: io.MultiReader(strings.NewReader("half"), errReader{})}
	if text, err := io.ReadAll(log); string(text) != "half" || err != nil || !errors.Is(log.err, os.ErrInvalid) {
		t.Errorf("read %q, %v, noted %v", text, err, log.err)
	}
}

type errReader struct{}

func (errReader) Read([]byte) (int, error) { return 0, os.ErrInvalid }

// startOrder returns the order to start an attempt.
func startOrder(job, attempt string) *wire.Order {
	return &wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{Start: &taskproc.Start{JobId: job, AttemptId: attempt}}}}
}
