package tasknode

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// suspendableTask is a task whose processes can be suspended.
type suspendableTask struct {
	*fakeTask
	refuse error
	calls  []string
}

func (s *suspendableTask) Suspend() error {
	if s.refuse == nil {
		s.calls = append(s.calls, "suspend")
	}
	return s.refuse
}

func (s *suspendableTask) Resume() error {
	s.calls = append(s.calls, "resume")
	return nil
}

// suspendRig launches suspendable tasks.
type suspendRig struct {
	*rig
	task *suspendableTask
}

func (b *suspendRig) Launch(ctx context.Context, start *taskproc.Start) (Task, error) {
	task, err := b.rig.Launch(ctx, start)
	if err != nil {
		return nil, err
	}
	b.task = &suspendableTask{fakeTask: task.(*fakeTask), refuse: b.task.refuse}
	return b.task, nil
}

func (b *rig) suspend() {
	b.orders.Put(&wire.Order{Order: &wire.Order_Suspend{Suspend: &wire.Order_SuspendAttempt{AttemptId: attemptID}}})
}

func (b *rig) resume() {
	b.orders.Put(&wire.Order{Order: &wire.Order_Resume{Resume: &wire.Order_ResumeAttempt{AttemptId: attemptID}}})
}

func (f *fakeTask) receive(t *testing.T) *taskproc.ToTask {
	t.Helper()
	m, err := f.Receive()
	must.Do(t, err)
	return m
}

func (f *fakeTask) send(t *testing.T, m *taskproc.FromTask) {
	t.Helper()
	must.Do(t, f.Send(m))
	synctest.Wait()
}

func suspendReady(order int64) *taskproc.FromTask {
	return &taskproc.FromTask{Message: &taskproc.FromTask_SuspendReady{SuspendReady: &taskproc.SuspendReady{Number: order}}}
}

func withSuspendableTasks(t *testing.T, refuse error, play func(b *suspendRig, task *fakeTask)) {
	t.Helper()
	runWith(t, func(b *rig) Launcher { return &suspendRig{rig: b, task: &suspendableTask{refuse: refuse}} }, func(b *rig) {
		play(b.other.(*suspendRig), b.start(taskproc.Kind_MAP))
	})
}

// TestSuspendAndResume suspends a task when it is ready, and resumes it.
func TestSuspendAndResume(t *testing.T) {
	withSuspendableTasks(t, nil, func(b *suspendRig, task *fakeTask) {
		b.suspend()
		b.suspend() // an order that comes twice
		if n := task.receive(t).GetSuspend().GetNumber(); n != 1 {
			t.Errorf("order %d", n)
		}
		if len(b.task.calls) > 0 {
			t.Error("suspended before it is ready")
		}
		task.send(t, suspendReady(1))
		b.resume()
		if task.receive(t).GetResume() == nil {
			t.Error("task did not receive Resume")
		}
		b.resume()
		b.suspend()
		if n := task.receive(t).GetSuspend().GetNumber(); n != 2 {
			t.Errorf("second order %d", n)
		}
		task.send(t, suspendReady(1)) // an answer from before
		if want := []string{"suspend", "resume"}; !slices.Equal(b.task.calls, want) {
			t.Errorf("calls %v, want %v", b.task.calls, want)
		}
		b.kill()
		<-task.ctx.Done()
		task.end(nil)
		<-b.reports
	})
}

// TestKilledWhileSuspended resumes the task, so that it can obey the order to end.
func TestKilledWhileSuspended(t *testing.T) {
	withSuspendableTasks(t, nil, func(b *suspendRig, task *fakeTask) {
		b.suspend()
		task.receive(t)
		task.send(t, suspendReady(1))
		b.kill()
		<-task.ctx.Done()
		if want := []string{"suspend", "resume"}; !slices.Equal(b.task.calls, want) {
			t.Errorf("calls %v, want %v", b.task.calls, want)
		}
		task.end(nil)
		if r := <-b.reports; r.GetExited() == nil {
			t.Errorf("report %v", r)
		}
	})
}

// TestTaskThatCannotSuspendWritesACheckpoint uses a task whose processes cannot be
// suspended.
func TestTaskThatCannotSuspendWritesACheckpoint(t *testing.T) {
	pauses := func(b *rig, task *fakeTask) {
		b.suspend()
		task.receive(t)
		task.send(t, suspendReady(1))
		if task.receive(t).GetResume() == nil || task.receive(t).GetPreempt() == nil {
			t.Error("task was not asked for a checkpoint")
		}
		task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{Checkpoint: &taskproc.Checkpoint{Path: filepath.Join(b.attemptDir(), "checkpoint"), Bytes: 7}}}})
		task.end(nil)
		if r := <-b.reports; r.GetCheckpointed().GetCheckpoint().GetBytes() != 7 {
			t.Errorf("report %v", r)
		}
	}
	t.Run("process", func(t *testing.T) {
		withSuspendableTasks(t, errors.New("no permission"), func(b *suspendRig, task *fakeTask) { pauses(b.rig, task) })
	})
	t.Run("goroutine", func(t *testing.T) {
		run(t, func(b *rig) { pauses(b, b.start(taskproc.Kind_MAP)) })
	})
}

// endedByForce is a task that ends when its stacks are requested.
type endedByForce struct{ *fakeTask }

func (e endedByForce) Stack() string {
	e.end(nil)
	return "here"
}

// forcingBench launches tasks of type endedByForce.
type forcingBench struct{ *rig }

func (b forcingBench) Launch(ctx context.Context, start *taskproc.Start) (Task, error) {
	task, err := b.rig.Launch(ctx, start)
	if err != nil {
		return nil, err
	}
	return endedByForce{task.(*fakeTask)}, nil
}

// TestStuckProcessIsEndedByForce checks that a killed process is reported like any task that
// was ordered to end.
func TestStuckProcessIsEndedByForce(t *testing.T) {
	runWith(t, func(b *rig) Launcher { return forcingBench{b} }, func(b *rig) {
		b.start(taskproc.Kind_MAP)
		b.kill()
		if r := <-b.reports; r.GetExited() == nil || r.GetExited().GetStuckStack() != "" {
			t.Errorf("report %v", r)
		}
	})
}

// TestPreemptKeepsItsMode checks that orders to split and to write a checkpoint are
// forwarded.
func TestPreemptKeepsItsMode(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		for _, split := range []bool{true, false} {
			b.orders.Put(&wire.Order{Order: &wire.Order_Preempt{Preempt: &wire.Order_PreemptAttempt{AttemptId: attemptID, Split: split}}})
			m := task.receive(t)
			if m.GetPreempt() == nil || (m.GetPreempt().Mode == taskproc.Preempt_SPLIT) != split {
				t.Errorf("split %v: task received %v", split, m)
			}
		}
		task.end(nil)
		<-b.reports
	})
}
