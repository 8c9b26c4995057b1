package tasknode

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSegmentsStayUntilTheJobIsRemoved(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Progress{Progress: &taskproc.Progress{Records: 3}}}))
		if r := <-b.reports; r.GetProgress().GetRecords() != 3 {
			t.Errorf("report %v", r)
		}
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{OutputBytes: 5, Outputs: []*taskproc.MapOutput{{Path: filepath.Join(b.attemptDir(), "map.out")}}}}}))
		task.end(nil)
		if r := <-b.reports; r.GetFinished().GetOutputBytes() != 5 {
			t.Errorf("report %v", r)
		}
		if got := b.files(); len(got) != 4 {
			t.Errorf("files after the end: %v", got)
		}
		b.removeJob()
		synctest.Wait()
		if got := b.files(); len(got) != 0 {
			t.Errorf("files after the job: %v", got)
		}
		if len(b.over) != 1 || b.over[0] != "job_1_0001" {
			t.Errorf("calls of OnRemoveJob: %v", b.over)
		}
	})
}

func TestFilesOfAnAttemptWithoutSegmentsGoWithIt(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_REDUCE)
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{OutputBytes: 5}}}))
		task.end(nil)
		if r := <-b.reports; r.GetFinished() == nil {
			t.Errorf("report %v", r)
		}
		synctest.Wait()
		if got := b.files(); len(got) != 2 {
			t.Errorf("files after the end: %v", got)
		}
	})
}

func TestStartOrderedTwiceStartsOnce(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
			Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: attemptID},
		}}})
		synctest.Wait()
		task.end(nil)
		if r := <-b.reports; !strings.Contains(r.GetFailed().GetCause(), "without a result") {
			t.Errorf("report %v", r)
		}
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
			Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: attemptID},
		}}})
		synctest.Wait()
		if len(b.tasks) != 0 || len(b.reports) != 0 {
			t.Error("the attempt was started twice")
		}
		if got := b.files(); len(got) != 2 {
			t.Errorf("files of a failed attempt: %v", got)
		}
	})
}

func TestKilledTaskReceivesCauseOrContextEnd(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		b.kill()
		<-task.ctx.Done()
		task.end(errors.New("context canceled"))
		if r := <-b.reports; r.GetExited() == nil || r.GetExited().StuckStack != "" {
			t.Errorf("report %v", r)
		}
	})
}

func TestExitedTaskIsReportedWithItsCause(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Exited{Exited: &taskproc.Exited{Cause: "disk full"}}}))
		task.end(nil)
		if r := <-b.reports; r.GetExited().GetCause() != "disk full" {
			t.Errorf("report %v", r)
		}
	})
}

func TestTaskThatDoesNotEndIsReportedWithItsStack(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		b.kill()
		began := time.Now()
		if r := <-b.reports; r.GetExited().GetStuckStack() != "stack" {
			t.Errorf("report %v", r)
		}
		if waited := time.Since(began); waited != 5*time.Second {
			t.Errorf("grace of %v", waited)
		}
		task.end(nil)
	})
}

func TestCrashAndFailedLaunchAreFailures(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		task.end(&Crash{Cause: "panic: x", Stack: "here"})
		if f := (<-b.reports).GetFailed(); f.GetCause() != "panic: x" || f.GetStack() != "here" || f.GetOffset() != -1 {
			t.Errorf("failure %v", f)
		}
		b.removeJob()
		b.refuse = errors.New("no memory")
		b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
			Start: &taskproc.Start{JobId: "job_1_0002", AttemptId: "attempt_1_0002_m_000000_0"},
		}}})
		<-b.reports // started
		if f := (<-b.reports).GetFailed(); !strings.Contains(f.GetCause(), "no memory") {
			t.Errorf("failure %v", f)
		}
	})
}

func TestOutputsReachReducesOnceAndWithoutThoseRevoked(t *testing.T) {
	run(t, func(b *rig) {
		length := uint64(0) // of the master's log, if it is sent in parts
		publish := func(from, to uint64, complete bool, revoked []string, attempts ...string) {
			var log taskproc.OutputLog
			log.Revoke(revoked)
			for i, a := range attempts {
				log.Add(&taskproc.MapOutput{Task: int32(i), Attempt: a})
			}
			o := &wire.Order_Outputs{JobId: "job_1_0001", Revision: from, Next: to, Length: max(to, length), Packed: log.Since(0)[0].Packed, Complete: complete}
			b.orders.Put(&wire.Order{Order: &wire.Order_Outputs_{Outputs: o}})
		}
		publish(0, 2, false, nil, "a", "b")
		publish(2, 3, false, []string{"a"})
		task := b.start(taskproc.Kind_REDUCE)
		receive := func(want string, complete bool) {
			t.Helper()
			m, err := task.Receive()
			got := ""
			for _, o := range m.GetOutputs().GetOutputs() {
				got += o.Attempt
			}
			if err != nil || got != want || m.GetOutputs().GetComplete() != complete {
				t.Errorf("received %q, complete %v, %v; want %q, %v", got, m.GetOutputs().GetComplete(), err, want, complete)
			}
		}
		receive("b", false)
		publish(3, 4, true, nil, "c")
		publish(3, 4, true, nil, "c")
		publish(4, 5, true, nil, "d")
		receive("c", true)
		receive("d", true)
		publish(0, 1, true, nil, "d")
		if m, err := task.Receive(); err != nil || strings.Join(m.GetOutputs().GetRevoked(), " ") != "b c" || !m.GetOutputs().Complete {
			t.Errorf("received %v, %v from a new master", m, err)
		}
		publish(1, 2, false, []string{"d"})
		if m, err := task.Receive(); err != nil || len(m.GetOutputs().GetRevoked()) != 1 || m.GetOutputs().Complete {
			t.Errorf("received %v, %v", m, err)
		}
		publish(2, 4, false, nil, "e", "f")
		receive("ef", false)
		length = 2
		publish(0, 1, false, nil, "e")
		receive("e", false)
		publish(1, 2, true, nil, "g")
		if m, err := task.Receive(); err != nil || strings.Join(m.GetOutputs().GetRevoked(), " ") != "f" || !m.GetOutputs().Complete {
			t.Errorf("received %v, %v after the last part from a new master", m, err)
		}
		task.end(nil)
		<-b.reports
	})
}

func TestTruncateAndPreemptAreForwarded(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		b.orders.Put(&wire.Order{Order: &wire.Order_Truncate{Truncate: &wire.Order_TruncateAttempt{
			AttemptId: attemptID, Position: &taskproc.Position{Offset: 9},
		}}})
		b.orders.Put(&wire.Order{Order: &wire.Order_Preempt{Preempt: &wire.Order_PreemptAttempt{AttemptId: attemptID}}})
		if m, err := task.Receive(); err != nil || m.GetTruncate().GetPosition().GetOffset() != 9 {
			t.Errorf("received %v, %v", m, err)
		}
		if m, err := task.Receive(); err != nil || m.GetPreempt() == nil {
			t.Errorf("received %v, %v", m, err)
		}
		path := filepath.Join(b.attemptDir(), "checkpoint")
		must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Checkpointed{Checkpointed: &taskproc.Checkpointed{
			Checkpoint: &taskproc.Checkpoint{Path: path},
		}}}))
		task.end(nil)
		if r := <-b.reports; r.GetCheckpointed().GetCheckpoint().GetPath() != path {
			t.Errorf("report %v", r)
		}
	})
}

func TestFinalReportIsResentUntilAcknowledged(t *testing.T) {
	run(t, func(b *rig) {
		running := b.start(taskproc.Kind_MAP)
		close(b.session.broken)
		synctest.Wait()
		running.end(errors.New("exit status 1")) // while there is no session
		for range 2 {
			if joined := (<-b.reports).GetJoined(); len(joined.GetAttempts()) != 1 || joined.Attempts[0] != attemptID || joined.Jobs[0] != "job_1_0001" {
				t.Fatalf("joined again with %v", joined)
			}
			if r := <-b.reports; r.GetFailed() == nil || r.AttemptId != attemptID {
				t.Errorf("report %v", r)
			}
			close(b.session.broken)
		}
		<-b.reports // joined
		<-b.reports // the failure
		b.orders.Put(&wire.Order{Order: &wire.Order_Acknowledge_{Acknowledge: &wire.Order_Acknowledge{AttemptId: attemptID}}})
		synctest.Wait()
		close(b.session.broken)
		if joined := (<-b.reports).GetJoined(); len(joined.GetAttempts()) != 0 {
			t.Errorf("joined with %v after the acknowledgement", joined)
		}
		synctest.Wait()
		if len(b.reports) != 0 {
			t.Errorf("report %v after the acknowledgement", <-b.reports)
		}
	})
}

func TestRefusedDaemonEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &rig{t: t, dir: t.TempDir(), reports: make(chan *wire.Report, 100), joinError: fmt.Errorf("%w: name taken", ErrRefused)}
		n, err := New(Config{Name: "n", Dirs: []string{b.dir}, Launcher: b, Link: b})
		must.Do(t, err)
		if err := n.Run(t.Context()); !errors.Is(err, ErrRefused) {
			t.Errorf("Run: %v", err)
		}
	})
}

func TestDaemonRetriesUntilAMasterAccepts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &rig{t: t, dir: t.TempDir(), reports: make(chan *wire.Report, 1000), joinError: errors.New("no leader")}
		n, err := New(Config{Name: "n", Dirs: []string{b.dir}, Launcher: b, Link: b})
		must.Do(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := n.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		if tries := len(b.reports); tries < 30 || tries > 40 {
			t.Errorf("%d tries in a minute", tries)
		}
	})
}

func TestHeartbeats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &rig{t: t, dir: t.TempDir(), orders: syncutil.NewMailbox[*wire.Order](), reports: make(chan *wire.Report, 100)}
		n, err := New(Config{
			Name: "n", Dirs: []string{b.dir}, Launcher: b, Link: b, Heartbeat: time.Second,
			MachineStatus: func() *wire.Report_Heartbeat { return &wire.Report_Heartbeat{Load: 0.5} },
		})
		must.Do(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
		defer cancel()
		if err := n.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		<-b.reports // joined
		if len(b.reports) != 10 {
			t.Fatalf("%d heartbeats in 10.5 s", len(b.reports))
		}
		if beat := (<-b.reports).GetHeartbeat(); beat.GetLoad() != 0.5 {
			t.Errorf("heartbeat %v", beat)
		}
	})
}

func TestValidateReportsEveryError(t *testing.T) {
	_, err := New(Config{MapSlots: -1})
	for _, want := range []string{"no Name", "negative number of slots", "no Dirs", "no Launcher", "no Link"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("missing %q in: %v", want, err)
		}
	}
}
