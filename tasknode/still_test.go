package tasknode

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
)

// stillTask is a task whose processes can be made to stand still.
type stillTask struct {
	*fakeTask
	refuse error
	deeds  []string
}

func (s *stillTask) Suspend() error {
	if s.refuse == nil {
		s.deeds = append(s.deeds, "suspend")
	}
	return s.refuse
}

func (s *stillTask) Resume() error {
	s.deeds = append(s.deeds, "resume")
	return nil
}

// stillBench launches tasks of that kind.
type stillBench struct {
	*bench
	task *stillTask
}

func (b *stillBench) Launch(ctx context.Context, start *taskproc.Start) (Task, error) {
	task, err := b.bench.Launch(ctx, start)
	if err != nil {
		return nil, err
	}
	b.task = &stillTask{fakeTask: task.(*fakeTask), refuse: b.task.refuse}
	return b.task, nil
}

func (b *bench) suspend() {
	b.orders.Put(&wire.Order{Order: &wire.Order_Suspend{Suspend: &wire.Order_SuspendAttempt{AttemptId: attemptID}}})
}

func (b *bench) resume() {
	b.orders.Put(&wire.Order{Order: &wire.Order_Resume{Resume: &wire.Order_ResumeAttempt{AttemptId: attemptID}}})
}

func (f *fakeTask) hears(t *testing.T) *taskproc.ToTask {
	t.Helper()
	m, err := f.Receive()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (f *fakeTask) says(t *testing.T, m *taskproc.FromTask) {
	t.Helper()
	if err := f.Send(m); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

func still(order int64) *taskproc.FromTask {
	return &taskproc.FromTask{Message: &taskproc.FromTask_Still{Still: &taskproc.Still{Number: order}}}
}

func withStillTasks(t *testing.T, refuse error, play func(b *stillBench, task *fakeTask)) {
	t.Helper()
	runWith(t, func(b *bench) Launcher { return &stillBench{bench: b, task: &stillTask{refuse: refuse}} }, func(b *bench) {
		play(b.other.(*stillBench), b.start(taskproc.Kind_MAP))
	})
}

// TestSuspended has a task stand still when it is ready, and go on.
func TestSuspended(t *testing.T) {
	withStillTasks(t, nil, func(b *stillBench, task *fakeTask) {
		b.suspend()
		b.suspend() // an order that comes twice
		if n := task.hears(t).GetSuspend().GetNumber(); n != 1 {
			t.Errorf("order %d", n)
		}
		if len(b.task.deeds) > 0 {
			t.Error("it is frozen before it is ready")
		}
		task.says(t, still(1))
		b.resume()
		if task.hears(t).GetResume() == nil {
			t.Error("it does not hear that it goes on")
		}
		b.resume()
		b.suspend()
		if n := task.hears(t).GetSuspend().GetNumber(); n != 2 {
			t.Errorf("second order %d", n)
		}
		task.says(t, still(1)) // an answer from before
		if want := []string{"suspend", "resume"}; !slices.Equal(b.task.deeds, want) {
			t.Errorf("deeds %v, want %v", b.task.deeds, want)
		}
		b.kill()
		<-task.ctx.Done()
		task.end(nil)
		<-b.reports
	})
}

// TestKilledWhileSuspended goes on, so that it can hear that it is to end.
func TestKilledWhileSuspended(t *testing.T) {
	withStillTasks(t, nil, func(b *stillBench, task *fakeTask) {
		b.suspend()
		task.hears(t)
		task.says(t, still(1))
		b.kill()
		<-task.ctx.Done()
		if want := []string{"suspend", "resume"}; !slices.Equal(b.task.deeds, want) {
			t.Errorf("deeds %v, want %v", b.task.deeds, want)
		}
		task.end(nil)
		if r := <-b.reports; r.GetKilled() == nil {
			t.Errorf("report %v", r)
		}
	})
}

// TestWhatCannotStandStillWritesACheckpoint is about processes that nobody can
// freeze, and tasks that are none.
func TestWhatCannotStandStillWritesACheckpoint(t *testing.T) {
	pauses := func(b *bench, task *fakeTask) {
		b.suspend()
		task.hears(t)
		task.says(t, still(1))
		if task.hears(t).GetResume() == nil || task.hears(t).GetPause() == nil {
			t.Error("it does not hear that it is to write a checkpoint")
		}
		task.says(t, &taskproc.FromTask{Message: &taskproc.FromTask_Paused{Paused: &taskproc.Paused{Checkpoint: &taskproc.Checkpoint{Bytes: 7}}}})
		task.end(nil)
		if r := <-b.reports; r.GetPaused().GetCheckpoint().GetBytes() != 7 {
			t.Errorf("report %v", r)
		}
	}
	t.Run("process", func(t *testing.T) {
		withStillTasks(t, errors.New("no permission"), func(b *stillBench, task *fakeTask) { pauses(b.bench, task) })
	})
	t.Run("goroutine", func(t *testing.T) {
		run(t, func(b *bench) { pauses(b, b.start(taskproc.Kind_MAP)) })
	})
}

// endedByForce is a task that ends when it is asked where it stands.
type endedByForce struct{ *fakeTask }

func (e endedByForce) Stack() string {
	e.end(nil)
	return "here"
}

// forcingBench launches tasks of that kind.
type forcingBench struct{ *bench }

func (b forcingBench) Launch(ctx context.Context, start *taskproc.Start) (Task, error) {
	task, err := b.bench.Launch(ctx, start)
	if err != nil {
		return nil, err
	}
	return endedByForce{task.(*fakeTask)}, nil
}

// TestProcessThatDoesNotEndIsEnded counts as any other that was told to end: the
// job goes on.
func TestProcessThatDoesNotEndIsEnded(t *testing.T) {
	runWith(t, func(b *bench) Launcher { return forcingBench{b} }, func(b *bench) {
		b.start(taskproc.Kind_MAP)
		b.kill()
		if r := <-b.reports; r.GetKilled() == nil || r.GetKilled().GetStuckStack() != "" {
			t.Errorf("report %v", r)
		}
	})
}

// TestEarlyEnd tells a map to finish what it has read, and others to write a
// checkpoint.
func TestEarlyEnd(t *testing.T) {
	run(t, func(b *bench) {
		task := b.start(taskproc.Kind_MAP)
		for _, split := range []bool{true, false} {
			b.orders.Put(&wire.Order{Order: &wire.Order_Pause{Pause: &wire.Order_PauseAttempt{AttemptId: attemptID, Split: split}}})
			m := task.hears(t)
			if (m.GetStop() != nil) != split || (m.GetPause() != nil) == split || m.GetStop().GetPosition() != nil {
				t.Errorf("split %v: it hears %v", split, m)
			}
		}
		task.end(nil)
		<-b.reports
	})
}
