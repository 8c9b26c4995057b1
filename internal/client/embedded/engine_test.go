package embedded

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/client"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func counted(s *wire.JobStatus, group, name string) int64 {
	for _, c := range s.Counters {
		if c.Group == group && c.Name == name {
			return c.Value
		}
	}
	return 0
}

func wantState(t *testing.T, s *wire.JobStatus, want wire.JobState) {
	t.Helper()
	if s.State != want {
		t.Fatalf("job is %v, want %v; cause %q, failures %v", s.State, want, s.Cause, s.Failures)
	}
}

func TestJobOfMapsAndReduces(t *testing.T) {
	r := newRig(t, 2)
	status := r.run(spec(3, 2))
	wantState(t, status, wire.JobState_SUCCEEDED)
	all := "_m_000000_0 _m_000001_0 _m_000002_0"
	if got, want := r.files("/out"), "_SUCCESS: \npart-r-00000: "+all+"\npart-r-00001: "+all; got != want {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
	if status.MapProgress != 1 || status.ReduceProgress != 1 || status.MapsDone != 3 || status.ReducesDone != 2 {
		t.Errorf("progress is %v", status)
	}
	if counted(status, "g", "maps") != 3 || counted(status, "g", "reduces") != 2 || counted(status, "Job Counters ", "Launched map tasks") != 3 {
		t.Errorf("counters are %v", status.Counters)
	}
	if len(status.Tasks) != 5 || len(status.Partitions) != 2 || status.InputBytes != 300 {
		t.Errorf("%d tasks, %d partitions, %d bytes of input", len(status.Tasks), len(status.Partitions), status.InputBytes)
	}
	if !strings.HasPrefix(status.JobId, "job_local") || !strings.HasSuffix(status.JobId, "_0001") {
		t.Errorf("job id is %s", status.JobId)
	}
}

func TestMapOnlyJob(t *testing.T) {
	r := newRig(t, 2)
	wantState(t, r.run(spec(2, 0)), wire.JobState_SUCCEEDED)
	if got, want := r.files("/out"), "_SUCCESS: \npart-m-00000: m0.0\npart-m-00001: m1.0"; got != want {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
}

func TestJobWithoutInput(t *testing.T) {
	r := newRig(t, 2)
	wantState(t, r.run(spec(0, 1)), wire.JobState_SUCCEEDED)
	if got, want := r.files("/out"), "_SUCCESS: \npart-r-00000: "; got != want {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
}

func TestFailedAttemptIsRetried(t *testing.T) {
	r := newRig(t, 1)
	r.behave = func(_ context.Context, f *fakeTask) *taskproc.FromTask {
		if f.name() == "m1.0" || f.name() == "r0.0" {
			return failed(&taskproc.Failure{Cause: "bad luck", Input: "mem:///in1", Offset: 17, Log: "last words"})
		}
		return nil
	}
	status := r.run(spec(2, 1))
	wantState(t, status, wire.JobState_SUCCEEDED)
	if got, want := r.files("/out"), "_SUCCESS: \npart-r-00000: _m_000000_0 _m_000001_1"; got != want {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
	if len(status.Failures) != 2 {
		t.Fatalf("failures are %v", status.Failures)
	}
	f := status.Failures[0]
	if strings.Contains(f.Task, "_r_") {
		f = status.Failures[1]
	}
	if f.Cause != "bad luck" || f.Offset != 17 || f.Input != "mem:///in1" || f.Log != "last words" || f.Machine != machineName ||
		!strings.HasSuffix(f.Attempt, "_m_000001_0") || f.Time == 0 {
		t.Errorf("failure is %v", f)
	}
	if counted(status, "Job Counters ", "Failed map tasks") != 1 {
		t.Errorf("counters are %v", status.Counters)
	}
}

func TestJobFailsAfterMaxAttempts(t *testing.T) {
	r := newRig(t, 2)
	r.behave = func(_ context.Context, f *fakeTask) *taskproc.FromTask {
		if f.start.Task == 1 && f.start.Kind == taskproc.Kind_MAP {
			return failed(&taskproc.Failure{Cause: "always bad"})
		}
		return nil
	}
	status := r.run(spec(3, 1, "mapreduce.map.maxattempts=2"))
	wantState(t, status, wire.JobState_FAILED)
	if !strings.Contains(status.Cause, "failed 2 times") || !strings.Contains(status.Cause, "always bad") || len(status.Failures) != 2 {
		t.Errorf("cause is %q, failures %v", status.Cause, status.Failures)
	}
	if got := r.files("/out"); got != "" {
		t.Errorf("left behind:\n%s", got)
	}
}

func TestFatalFailureIsNotRetried(t *testing.T) {
	r := newRig(t, 1)
	r.behave = func(context.Context, *fakeTask) *taskproc.FromTask {
		return failed(&taskproc.Failure{Cause: "no such program", Fatal: true})
	}
	status := r.run(spec(1, 0))
	wantState(t, status, wire.JobState_FAILED)
	if len(status.Failures) != 1 || len(r.mu.started) != 1 {
		t.Errorf("attempts %v, failures %v", r.mu.started, status.Failures)
	}
}

func TestPanicInsideServeIsAFailure(t *testing.T) {
	r := newRig(t, 1)
	r.behave = func(_ context.Context, f *fakeTask) *taskproc.FromTask {
		if f.name() == "m0.0" {
			panicInTask()
		}
		return nil
	}
	status := r.run(spec(1, 0))
	wantState(t, status, wire.JobState_SUCCEEDED)
	if len(status.Failures) != 1 || status.Failures[0].Cause != "panic: out of luck" ||
		!strings.Contains(status.Failures[0].Stack, "panicInTask") {
		t.Errorf("failures are %v", status.Failures)
	}
}

func panicInTask() { panic("out of luck") }

func TestRecordsAreSkippedOneByOne(t *testing.T) {
	r := newRig(t, 1)
	bad := []int64{30, 10} // in the order in which they fail
	r.behave = func(_ context.Context, f *fakeTask) *taskproc.FromTask {
		skip := make(map[int64]bool)
		for i, p := range f.start.Skip {
			skip[p.Offset] = true
			if i > 0 && p.Offset <= f.start.Skip[i-1].Offset {
				t.Errorf("skip list %v", f.start.Skip)
			}
		}
		for _, offset := range bad {
			if !skip[offset] {
				return failed(&taskproc.Failure{Cause: "bad record", Offset: offset, Record: &taskproc.Position{Offset: offset}})
			}
		}
		return nil
	}
	status := r.run(spec(1, 0, "mapreduce.map.skip.maxrecords=2", "mapreduce.map.maxattempts=1"))
	wantState(t, status, wire.JobState_SUCCEEDED)
	if len(status.Failures) != 2 || !status.Failures[0].Skipped {
		t.Errorf("failures are %v", status.Failures)
	}
	s, splits := spec(1, 0, "mapreduce.map.skip.maxrecords=1", "mapreduce.map.maxattempts=1")
	s.OutputDir = "mem:///out2"
	wantState(t, r.run(s, splits), wire.JobState_FAILED)
}

func TestLostMapOutputIsRecomputed(t *testing.T) {
	r := newRig(t, 1)
	r.behave = func(_ context.Context, f *fakeTask) *taskproc.FromTask {
		if f.name() != "r0.0" {
			return nil
		}
		for o := range f.outputs {
			for _, m := range o.Outputs {
				if m.Task == 1 {
					return failed(&taskproc.Failure{Cause: "checksum differs", LostMapAttempt: m.Attempt})
				}
			}
		}
		return nil
	}
	status := r.run(spec(2, 1, "mapreduce.reduce.maxattempts=1"))
	wantState(t, status, wire.JobState_SUCCEEDED)
	if got, want := r.files("/out"), "_SUCCESS: \npart-r-00000: _m_000000_0 _m_000001_1"; got != want {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
}

func TestKillWhileRunning(t *testing.T) {
	r := newRig(t, 2)
	running := make(chan struct{}, 10)
	r.behave = func(ctx context.Context, _ *fakeTask) *taskproc.FromTask {
		running <- struct{}{}
		<-ctx.Done()
		return killed()
	}
	c := r.engine.Client()
	s, splits := spec(3, 1)
	id, err := c.Submit(t.Context(), s, splits)
	must.Do(t, err)
	<-running
	must.Do(t, c.Kill(t.Context(), id, "enough"))
	status, err := c.Watch(t.Context(), id, nil)
	must.Do(t, err)
	wantState(t, status, wire.JobState_KILLED)
	if status.Cause != "enough" || len(status.Failures) != 0 {
		t.Errorf("cause %q, failures %v", status.Cause, status.Failures)
	}
	if got := r.files("/out"); got != "" {
		t.Errorf("left behind:\n%s", got)
	}
	if err := c.Kill(t.Context(), id, "again"); err != nil {
		t.Errorf("kill of a job that is over: %v", err)
	}
}

// TestExistingOutputFailsTheJob submits a job without the checks of package mr. The master makes
// the output directory, so it finds one that another program has made meanwhile.
func TestExistingOutputFailsTheJob(t *testing.T) {
	r := newRig(t, 1)
	must.Do(t, r.fs.MkdirAll(t.Context(), "/out"))
	s, splits := spec(1, 0)
	status := r.run(s, splits)
	if status.State != wire.JobState_FAILED || !strings.Contains(status.Cause, "Output directory mem:///out already exists") {
		t.Errorf("state %v, cause %q", status.State, status.Cause)
	}
	if len(r.mu.started) != 0 {
		t.Errorf("attempts %v ran", r.mu.started)
	}
}

func TestBadSubmissionsAreRefused(t *testing.T) {
	r := newRig(t, 1)
	s, splits := spec(1, 1, "mapreduce.map.maxattempts=0")
	s.Fingerprint = "other"
	s.Graph.Edges[0].To = "nobody"
	_, err := r.engine.Client().Submit(t.Context(), s, splits)
	for _, want := range []string{"fingerprint", `no stage "nobody"`, "maxattempts"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in: %v", want, err)
		}
	}
	s, _ = spec(2, 1)
	status := r.run(s, splits)
	wantState(t, status, wire.JobState_FAILED)
	if !strings.Contains(status.Cause, "1 splits for 2 source nodes") {
		t.Errorf("cause is %q", status.Cause)
	}
}

func TestSubmittingTwiceIsOneJob(t *testing.T) {
	r := newRig(t, 1)
	s, splits := spec(1, 0)
	s.ClientId, s.Sequence = "me", 5
	first := r.run(s, splits)
	second := r.run(s, splits)
	if first.JobId != second.JobId || len(r.mu.started) != 1 {
		t.Errorf("jobs %s and %s, attempts %v", first.JobId, second.JobId, r.mu.started)
	}
}

func TestUnknownJobs(t *testing.T) {
	c := newRig(t, 1).engine.Client()
	for _, id := range []string{"job_local1_0001", "nonsense"} {
		if err := c.Kill(t.Context(), id, ""); !errors.Is(err, client.ErrUnknown) {
			t.Errorf("kill of %s: %v", id, err)
		}
		if _, err := c.Watch(t.Context(), id, nil); !errors.Is(err, client.ErrUnknown) {
			t.Errorf("follow of %s: %v", id, err)
		}
	}
}

func TestWatchSeesTheStatesInOrder(t *testing.T) {
	r := newRig(t, 1)
	c := r.engine.Client()
	s, splits := spec(1, 1)
	id, err := c.Submit(t.Context(), s, splits)
	must.Do(t, err)
	var last wire.JobState
	calls := 0
	final, err := c.Watch(t.Context(), id, func(s *wire.JobStatus) {
		if s.State < last {
			t.Errorf("%v after %v", s.State, last)
		}
		last = s.State
		calls++
	})
	if err != nil || last != wire.JobState_SUCCEEDED || final.State != last || calls == 0 {
		t.Errorf("last of %d is %v, %v", calls, last, err)
	}
}

func TestEndOfContextKillsTheJobs(t *testing.T) {
	r := newRig(t, 1)
	ctx, interrupt := context.WithCancelCause(t.Context())
	other := &rig{t: t, fs: r.fs}
	other.behave = func(ctx context.Context, _ *fakeTask) *taskproc.FromTask {
		interrupt(errors.New("interrupted"))
		<-ctx.Done()
		return killed()
	}
	other.start(ctx, 1)
	status := other.run(spec(1, 1))
	wantState(t, status, wire.JobState_KILLED)
	if status.Cause != "interrupted" || r.files("/out") != "" {
		t.Errorf("cause %q; left behind:\n%s", status.Cause, r.files("/out"))
	}
	s, splits := spec(1, 1)
	if _, err := other.engine.Client().Submit(t.Context(), s, splits); err == nil {
		t.Error("a job is taken after the end")
	}
	dir := other.engine.dir
	must.Do(t, other.engine.Close())
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("temporary directory after Close: %v", err)
	}
}

func TestTrivialJobTakesMilliseconds(t *testing.T) {
	r := newRig(t, 1)
	began := time.Now()
	wantState(t, r.run(spec(1, 1)), wire.JobState_SUCCEEDED)
	t.Logf("submit to done took %v", time.Since(began))
}
