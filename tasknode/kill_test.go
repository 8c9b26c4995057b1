package tasknode

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/kit/failpoint"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestKillBeforeStartIsReported checks that a kill before the start is answered like the
// kill of a running task. Otherwise its slot would stay in use: a new master cannot send the
// start yet, and later the attempt may not be needed. The attempt never starts, and is
// killed once.
func TestKillBeforeStartIsReported(t *testing.T) {
	run(t, func(b *rig) {
		b.kill()
		if r := <-b.reports; r.AttemptId != attemptID || r.GetExited().GetCause() != "enough" {
			t.Errorf("report %v", r)
		}
		b.kill()
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
			Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: attemptID},
		}}})
		synctest.Wait()
		if len(b.tasks) != 0 || len(b.reports) != 0 {
			t.Error("the attempt was started, or killed again")
		}
		b.removeJob()
		synctest.Wait()
		b.start(taskproc.Kind_MAP).end(nil) // nothing of it is left
		<-b.reports
	})
}

// TestKillAfterTheRemovalLeavesNothing kills an attempt of a job that was removed. When the master has its end,
// the tables are empty.
func TestKillAfterTheRemovalLeavesNothing(t *testing.T) {
	run(t, func(b *rig) {
		b.removeJob()
		synctest.Wait()
		b.kill()
		<-b.reports // it has exited
		b.orders.Put(&wire.Order{Order: &wire.Order_Acknowledge_{Acknowledge: &wire.Order_Acknowledge{AttemptId: attemptID}}})
		synctest.Wait()
		checked := make(chan struct{})
		b.daemon.CheckLoop(func() {
			defer close(checked)
			if d := b.daemon; len(d.known)+len(d.knownOf)+len(d.unacked)+len(d.jobs) != 0 {
				t.Errorf("known %v, by job %v, not acknowledged %v, jobs %v", d.known, d.knownOf, d.unacked, d.jobs)
			}
		})
		<-checked
	})
}

// hungProcess is a task whose process waits in the kernel and cannot be killed.
type hungProcess struct{ *fakeTask }

func (hungProcess) PID() int { return 7 }

// hungLauncher launches tasks whose processes hang.
type hungLauncher struct{ *rig }

func (l hungLauncher) Launch(ctx context.Context, start *taskproc.Start) (Task, error) {
	task, err := l.rig.Launch(ctx, start)
	return hungProcess{task.(*fakeTask)}, err
}

// TestProcessThatCannotBeKilledCostsItsSlot kills a process that does not end. The master
// learns that the machine has one slot fewer, then that the attempt is over at no cost to its
// task. When the process ends, the slot is offered again.
func TestProcessThatCannotBeKilledCostsItsSlot(t *testing.T) {
	runWith(t, func(b *rig) Launcher { return hungLauncher{b} }, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		b.kill()
		if joined := (<-b.reports).GetJoined(); joined == nil || joined.MapSlots != 0 || joined.ReduceSlots != 1 {
			t.Errorf("report %v", joined)
		}
		if exited := (<-b.reports).GetExited(); exited == nil || exited.StuckStack != "" || exited.Cause == "" {
			t.Errorf("report %v", exited)
		}
		task.end(nil)
		if joined := (<-b.reports).GetJoined(); joined.GetMapSlots() != 1 {
			t.Errorf("report %v", joined)
		}
	})
}

// slowDisk makes operations on local files take an hour.
func slowDisk(t *testing.T) *failpoint.Control {
	t.Helper()
	control, err := failpoint.Open(t.TempDir())
	must.Do(t, err)
	must.Do(t, control.SlowDisk(time.Hour))
	return control
}

// TestKillDoesNotWaitForADiskThatHangs kills an attempt whose directory cannot be made, and one
// that has finished and whose record cannot be written. Both end within the grace period.
func TestKillDoesNotWaitForADiskThatHangs(t *testing.T) {
	run(t, func(b *rig) {
		control := slowDisk(t)
		defer control.Close()
		b.orders.Put(startOrder("job_1_0001", attemptID))
		<-b.reports // started
		began := time.Now()
		b.kill()
		r := <-b.reports
		if waited := time.Since(began); waited > time.Minute || !strings.Contains(r.GetExited().GetCause(), errDiskHangs.Error()) {
			t.Errorf("report after %v: %v", waited, r)
		}
	})
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		control := slowDisk(t)
		defer control.Close()
		task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{
			OutputBytes: 5, Outputs: []*taskproc.MapOutput{{Path: filepath.Join(b.attemptDir(), "map.out")}},
		}}})
		task.end(nil)
		synctest.Wait()
		began := time.Now()
		b.kill()
		r := <-b.reports
		if waited := time.Since(began); waited > time.Minute || r.GetFinished().GetOutputBytes() != 5 {
			t.Errorf("report after %v: %v", waited, r)
		}
	})
}

// TestWinnerWhoseProcessHangsStillWins finishes an attempt whose process does not exit.
func TestWinnerWhoseProcessHangsStillWins(t *testing.T) {
	runWith(t, func(b *rig) Launcher { return hungLauncher{b} }, func(b *rig) {
		task := b.start(taskproc.Kind_REDUCE)
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{OutputBytes: 5}}}))
		task.Close()
		if joined := (<-b.reports).GetJoined(); joined == nil || joined.MapSlots != 1 || joined.ReduceSlots != 0 {
			t.Errorf("report %v", joined)
		}
		if r := <-b.reports; r.GetFinished().GetOutputBytes() != 5 {
			t.Errorf("report %v", r)
		}
		task.end(nil)
		<-b.reports // slots
	})
}

// TestReportsOfATaskDoNotAccumulate stops the loop while a task sends very many reports. They
// do not accumulate, and the master gets the latest progress and one decline for each order.
func TestReportsOfATaskDoNotAccumulate(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		b.orders.Put(&wire.Order{Order: &wire.Order_Preempt{Preempt: &wire.Order_PreemptAttempt{AttemptId: attemptID}}})
		if m, err := task.Receive(); m.GetPreempt() == nil || err != nil {
			t.Fatalf("received %v, %v", m, err)
		}
		proceed, stopped := make(chan struct{}), make(chan struct{})
		b.daemon.inbox.Put(func() { close(stopped); <-proceed })
		<-stopped
		const n = 10_000
		for i := range n {
			task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: &taskproc.Progress{Records: int64(i)}}})
			task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_PreemptionDeclined{PreemptionDeclined: &taskproc.PreemptionDeclined{Cause: "no"}}})
		}
		synctest.Wait()
		if waiting := b.daemon.inbox.Take(); len(waiting) != 2 {
			t.Errorf("%d functions wait for the loop", len(waiting))
		} else {
			for _, f := range waiting {
				b.daemon.inbox.Put(f)
			}
		}
		close(proceed)
		if r := <-b.reports; r.GetProgress().GetRecords() != n-1 {
			t.Errorf("report %v", r)
		}
		if r := <-b.reports; r.GetPreemptionDeclined().GetCause() != "no" {
			t.Errorf("report %v", r)
		}
		for range 10 {
			task.send(t, &taskproc.FromTask{Message: &taskproc.FromTask_PreemptionDeclined{PreemptionDeclined: &taskproc.PreemptionDeclined{Cause: "no"}}})
		}
		synctest.Wait()
		if len(b.reports) != 0 {
			t.Errorf("%d reports of a preemption that was declined", len(b.reports))
		}
		task.end(nil)
	})
}
