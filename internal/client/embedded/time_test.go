package embedded

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

func TestAttemptWithoutProgressTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		r.behave = func(ctx context.Context, f *fakeTask) *taskproc.FromTask {
			if f.name() != "m0.0" {
				return nil
			}
			f.progressUntil(ctx, 5, false)
			return killed()
		}
		began := time.Now()
		status := r.run(spec(1, 1, "mapreduce.task.timeout=60000"))
		wantState(t, status, wire.JobState_SUCCEEDED)
		if took := time.Since(began); took != 60*time.Second {
			t.Errorf("the job took %v", took)
		}
		if len(status.Failures) != 1 || !strings.Contains(status.Failures[0].Cause, "failed to report status for 60 seconds. Killing!") {
			t.Errorf("failures are %v", status.Failures)
		}
	})
}

// progressUntil reports every ten seconds until ctx ends, or n times. If advances is set,
// each report has one more record.
func (f *fakeTask) progressUntil(ctx context.Context, n int, advances bool) {
	p := &taskproc.Progress{Fraction: 0.5}
	for range n {
		if advances {
			p.Records++
		}
		if f.end.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: p}}) != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(10 * time.Second):
		}
	}
	if !advances {
		<-ctx.Done()
	}
}

func TestProgressKeepsAnAttemptAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		r.behave = func(ctx context.Context, f *fakeTask) *taskproc.FromTask {
			f.progressUntil(ctx, 30, true)
			return nil
		}
		status := r.run(spec(1, 0, "mapreduce.task.timeout=15s"))
		wantState(t, status, wire.JobState_SUCCEEDED)
		if len(status.Failures) != 0 || status.FinishTime-status.StartTime != 300_000 {
			t.Errorf("took %d ms, failures %v", status.FinishTime-status.StartTime, status.Failures)
		}
	})
}

func TestProgressIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, 1)
		r.behave = func(ctx context.Context, f *fakeTask) *taskproc.FromTask {
			f.progressUntil(ctx, 3, true)
			return nil
		}
		s, splits := spec(1, 0)
		id, err := r.engine.Client().Submit(t.Context(), s, splits)
		must.Do(t, err)
		half := 0
		if _, err := r.engine.Client().Watch(t.Context(), id, func(s *wire.JobStatus) {
			if s.MapProgress == 0.5 {
				half++
			}
		}); err != nil {
			t.Fatal(err)
		}
		if half < 3 {
			t.Errorf("the middle was seen %d times, want once for each report at least", half)
		}
	})
}

// ignoreContext is user code that ignores its context.
func ignoreContext(release <-chan struct{}) { <-release }

func TestAttemptThatIgnoresItsEndFailsTheJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		r := newRig(t, 1)
		r.behave = func(_ context.Context, f *fakeTask) *taskproc.FromTask {
			if f.name() == "m0.0" {
				ignoreContext(release)
			}
			return nil
		}
		status := r.run(spec(2, 0, "mapreduce.task.timeout=20s"))
		wantState(t, status, wire.JobState_FAILED)
		if took := status.FinishTime - status.SubmitTime; took != 25_000 {
			t.Errorf("the job took %d ms", took)
		}
		if !strings.Contains(status.Cause, "does not") || len(status.Failures) != 2 {
			t.Fatalf("cause %q, failures %v", status.Cause, status.Failures)
		}
		stack := status.Failures[1].Stack
		if !strings.Contains(stack, "ignoreContext") || strings.Contains(stack, "jobmaster") {
			t.Errorf("the stack shown is\n%s", stack)
		}
		if err := r.engine.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
}

func TestStacksOfAGoroutineAndItsChildren(t *testing.T) {
	dump := `goroutine 1 [running]:
main.main()
	/src/main.go:1 +0x1

goroutine 12 [chan receive]:
main.task()
	/src/task.go:1 +0x1
created by main.launch in goroutine 1
	/src/main.go:9 +0x2

goroutine 120 [select]:
main.helper()
	/src/task.go:7 +0x1
created by main.task in goroutine 12
	/src/task.go:2 +0x2

goroutine 13 [IO wait]:
main.other()
	/src/other.go:1 +0x1
created by main.launch in goroutine 1
	/src/main.go:9 +0x2
`
	got := pickStacks(dump, "12")
	if !strings.Contains(got, "main.task()") || !strings.Contains(got, "main.helper()") ||
		strings.Contains(got, "main.other()") || strings.Contains(got, "main.main()") {
		t.Errorf("picked\n%s", got)
	}
}

func TestSplitTaskLeavesTheRestToANewTask(t *testing.T) {
	r := newRig(t, 1)
	r.behave = func(ctx context.Context, f *fakeTask) *taskproc.FromTask {
		if f.start.Range.Start.Offset != 0 || f.start.Task != 0 {
			return nil
		}
		done := &taskproc.Finished{Range: &taskproc.Range{Start: f.start.Range.Start, End: &taskproc.Position{Offset: 40, Skip: 2}}}
		last, err := f.withPiece(ctx, done, "first part")
		if err != nil {
			t.Error(err)
		}
		return last
	}
	status := r.run(spec(2, 0))
	wantState(t, status, wire.JobState_SUCCEEDED)
	if got, want := r.files("/out"), "_SUCCESS: \npart-m-00000: first part\nm2.0\npart-m-00001: m1.0"; got != want {
		t.Errorf("output is\n%s\nwant\n%s", got, want)
	}
	if status.Maps != 3 {
		t.Errorf("%d maps", status.Maps)
	}
}

func TestTaskResumesFromItsCheckpoint(t *testing.T) {
	r := newRig(t, 1)
	r.behave = func(_ context.Context, f *fakeTask) *taskproc.FromTask {
		switch f.name() {
		case "r0.0":
			return &taskproc.FromTask{Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{
				Checkpoint: &taskproc.Checkpoint{Path: f.start.LocalDir + "/checkpoint", Bytes: 12, Checksum: 34},
			}}}
		case "r0.1":
			c := f.start.Checkpoint
			if !strings.HasSuffix(c.GetAttempt(), "_r_000000_0") || !strings.HasSuffix(c.GetPath(), "_r_000000_0/checkpoint") ||
				c.GetBytes() != 12 || c.GetChecksum() != 34 || c.GetJobId() != f.start.JobId {
				t.Errorf("checkpoint is %v", c)
			}
		}
		return nil
	}
	status := r.run(spec(1, 1, "mapreduce.reduce.maxattempts=1"))
	wantState(t, status, wire.JobState_SUCCEEDED)
	attempts := status.Tasks[1].Attempts
	if len(attempts) != 2 || attempts[0].State != wire.AttemptState_ATTEMPT_PREEMPTED || len(status.Failures) != 0 {
		t.Errorf("attempts are %v, failures %v", attempts, status.Failures)
	}
}
