package tasknode

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// errReplaced is the error of a replacement that the test only pretends.
var errReplaced = errors.New("replaced")

// handOver hands over what the daemon runs, and returns it as the next program reads it. The daemon
// continues.
func (b *rig) handOver(running ...string) *Handover {
	b.t.Helper()
	var encoded []byte
	err := b.daemon.HandOver(b.t.Context(), pauseWith(running...), func(h *Handover) (err error) {
		if encoded, err = json.Marshal(h); err == nil {
			err = errReplaced
		}
		return err
	})
	if !errors.Is(err, errReplaced) {
		b.t.Fatalf("handover: %v", err)
	}
	h := new(Handover)
	must.Do(b.t, json.Unmarshal(encoded, h))
	return h
}

// pauseWith pauses a launcher that has these tasks.
func pauseWith(running ...string) func() ([]string, func(), error) {
	return func() ([]string, func(), error) { return running, func() {}, nil }
}

// successor is the rig of the daemon that continues. Its launcher adopts tasks, which have
// connections of their own.
type successor struct {
	*rig
	adopted map[string]*fakeTask
}

func (s *successor) Adopt(ctx context.Context, attempt string) (Task, error) {
	task := s.adopted[attempt]
	if task == nil {
		return nil, errors.New("its process was not handed over")
	}
	task.ctx = ctx
	return task, nil
}

// replace runs another daemon with what the first one has handed over; attempts have a task.
func (b *rig) replace(h *Handover, attempts []string, play func(next *successor, joined *wire.Report_Joined)) {
	b.t.Helper()
	next := &successor{adopted: make(map[string]*fakeTask), rig: &rig{
		t: b.t, dir: b.dir, orders: syncutil.NewMailbox[*wire.Order](), reports: make(chan *wire.Report, 100), tasks: make(chan *fakeTask, 100),
		change: func(c *Config) { c.Handover = h },
	}}
	for _, id := range attempts {
		ours, theirs := net.Pipe()
		next.adopted[id] = &fakeTask{TaskEnd: taskproc.NewTaskEnd(theirs), ours: ours, raw: theirs, gone: make(chan struct{})}
	}
	next.other = next
	next.run(func(joined *wire.Report_Joined) { play(next, joined) })
}

// final waits for the final report of an attempt.
func (s *successor) final(attempt string) *wire.Report {
	for r := range s.reports {
		if r.AttemptId == attempt && r.GetProgress() == nil && r.GetStarted() == nil {
			return r
		}
	}
	return nil
}

func finishedMessage(records int64) *taskproc.FromTask {
	return &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: &taskproc.Finished{OutputRecords: records}}}
}

// TestRestoreOfARunningAttempt hands a running attempt over. The next daemon joins with it as
// the same instance, does not start it again, passes orders to it, and reports its result.
func TestRestoreOfARunningAttempt(t *testing.T) {
	run(t, func(b *rig) {
		first := b.start(taskproc.Kind_MAP)
		synctest.Wait()
		h := b.handOver(attemptID)
		b.replace(h, []string{attemptID}, func(next *successor, joined *wire.Report_Joined) {
			if joined.Instance != h.Instance || !slices.Equal(joined.Attempts, []string{attemptID}) || !slices.Equal(joined.Jobs, []string{"job_1_0001"}) {
				t.Errorf("joined with %v", joined)
			}
			task := next.adopted[attemptID]
			next.orders.Put(startOrder("job_1_0001", attemptID))
			next.orders.Put(&wire.Order{Order: &wire.Order_Truncate{Truncate: &wire.Order_TruncateAttempt{AttemptId: attemptID, Position: &taskproc.Position{Offset: 7}}}})
			if m, err := task.Receive(); err != nil || m.GetTruncate().GetPosition().GetOffset() != 7 {
				t.Errorf("first message %v, %v", m, err)
			}
			task.Send(finishedMessage(3))
			task.end(nil)
			if r := next.final(attemptID); r.GetFinished().GetOutputRecords() != 3 {
				t.Errorf("report %v", r)
			}
		})
		first.end(nil)
	})
}

// TestRestoreInTheMiddleOfMessages hands an attempt over whose last message has arrived in
// part, and which has not received an order.
func TestRestoreInTheMiddleOfMessages(t *testing.T) {
	run(t, func(b *rig) {
		first := b.start(taskproc.Kind_MAP)
		last, err := taskproc.AppendMessage(nil, finishedMessage(3))
		must.Do(t, err)
		if _, err := first.raw.Write(last[:2]); err != nil {
			t.Fatal(err)
		}
		for offset := range int64(2) { // the task does not read, so the first of them blocks the writer
			b.orders.Put(&wire.Order{Order: &wire.Order_Truncate{Truncate: &wire.Order_TruncateAttempt{AttemptId: attemptID, Position: &taskproc.Position{Offset: offset}}}})
		}
		synctest.Wait()
		h := b.handOver(attemptID)
		b.replace(h, []string{attemptID}, func(next *successor, _ *wire.Report_Joined) {
			task := next.adopted[attemptID]
			for offset := range int64(2) {
				if m, err := task.Receive(); err != nil || m.GetTruncate().GetPosition().GetOffset() != offset {
					t.Errorf("message %d: %v, %v", offset, m, err)
				}
			}
			if _, err := task.raw.Write(last[2:]); err != nil {
				t.Error(err)
			}
			task.end(nil)
			if r := next.final(attemptID); r.GetFinished().GetOutputRecords() != 3 {
				t.Errorf("report %v", r)
			}
		})
		first.end(nil)
	})
}

// TestRestoreOfAKilledAttempt hands an attempt over that was ordered to end and has not ended.
func TestRestoreOfAKilledAttempt(t *testing.T) {
	run(t, func(b *rig) {
		first := b.start(taskproc.Kind_MAP)
		b.kill()
		synctest.Wait()
		h := b.handOver(attemptID)
		b.replace(h, []string{attemptID}, func(next *successor, _ *wire.Report_Joined) {
			task := next.adopted[attemptID]
			if m, err := task.Receive(); err != nil || m.GetKill().GetCause() != "enough" {
				t.Errorf("message %v, %v", m, err)
			}
			task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Exited{Exited: new(taskproc.Exited)}})
			task.end(nil)
			if r := next.final(attemptID); r.GetExited() == nil {
				t.Errorf("report %v", r)
			}
		})
		first.end(nil)
	})
}

// TestRestoreOfATaskThatIsGone hands an attempt over whose task the launcher does not have.
// The attempt ends and does not count as a failure.
func TestRestoreOfATaskThatIsGone(t *testing.T) {
	run(t, func(b *rig) {
		first := b.start(taskproc.Kind_MAP)
		b.replace(b.handOver(attemptID), nil, func(next *successor, _ *wire.Report_Joined) {
			if r := next.final(attemptID); !strings.Contains(r.GetExited().GetCause(), "was restarted and could not continue with the task") {
				t.Errorf("report %v", r)
			}
		})
		first.end(nil)
	})
}

// TestRestoreOfReports hands over a final report that no master has acknowledged, and an attempt
// that had no process. The report is sent again. The attempt is started when it is ordered again.
func TestRestoreOfReports(t *testing.T) {
	const other = "attempt_1_0001_m_000001_0"
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		task.Send(finishedMessage(3))
		task.end(nil)
		synctest.Wait()
		h := b.handOver()
		if len(h.Attempts) != 0 || len(h.Unacked) != 1 || h.Known[attemptID] != "job_1_0001" {
			t.Errorf("handed over %+v", h)
		}
		b.replace(h, nil, func(next *successor, joined *wire.Report_Joined) {
			if !slices.Equal(joined.Attempts, []string{attemptID}) {
				t.Errorf("joined with %v", joined)
			}
			if r := next.final(attemptID); r.GetFinished().GetOutputRecords() != 3 {
				t.Errorf("report %v", r)
			}
			next.orders.Put(startOrder("job_1_0001", attemptID))
			next.orders.Put(startOrder("job_1_0001", other))
			started := <-next.tasks
			if m, err := started.Receive(); err != nil || m.GetStart().GetAttemptId() != other {
				t.Errorf("first message %v, %v", m, err)
			}
			started.end(nil)
			next.final(other)
			if len(next.tasks) > 0 {
				t.Error("an attempt was started twice")
			}
		})
	})
}

// TestRestoreRevokesOutputs hands over a reduce that knows two outputs. The log that the master
// sends then lacks one of them.
func TestRestoreRevokesOutputs(t *testing.T) {
	outputs := func(names ...string) *wire.Order {
		var log taskproc.OutputLog
		for _, name := range names {
			log.Add(&taskproc.MapOutput{Attempt: name, Path: "/" + name})
		}
		part := log.Since(0)[0]
		return &wire.Order{Order: &wire.Order_Outputs_{Outputs: &wire.Order_Outputs{JobId: "job_1_0001", Packed: part.Packed, Next: uint64(len(names)), Length: uint64(len(names))}}}
	}
	receive := func(task *fakeTask) *taskproc.Outputs {
		for {
			m, err := task.Receive()
			must.Do(t, err)
			if o := m.GetOutputs(); o != nil && len(o.Outputs)+len(o.Revoked) > 0 {
				return o
			}
		}
	}
	run(t, func(b *rig) {
		first := b.start(taskproc.Kind_REDUCE)
		b.orders.Put(outputs("attempt_1_0001_m_000000_0", "attempt_1_0001_m_000001_0"))
		if o := receive(first); len(o.Outputs) != 2 {
			t.Errorf("outputs %v", o)
		}
		synctest.Wait()
		h := b.handOver(attemptID)
		b.replace(h, []string{attemptID}, func(next *successor, _ *wire.Report_Joined) {
			next.orders.Put(outputs("attempt_1_0001_m_000001_0"))
			if o := receive(next.adopted[attemptID]); len(o.Outputs) != 1 || !slices.Equal(o.Revoked, []string{"attempt_1_0001_m_000000_0"}) {
				t.Errorf("outputs %v", o)
			}
			next.adopted[attemptID].end(nil)
			next.final(attemptID)
		})
		first.end(nil)
	})
}

// TestHandOverWaitsForEndingAttempts asks for a handover while an attempt is in no table. Orders
// wait in the meantime, and are executed when the handover is given up.
func TestHandOverWaitsForEndingAttempts(t *testing.T) {
	run(t, func(b *rig) {
		task := b.start(taskproc.Kind_MAP)
		ctx, cancel := context.WithTimeout(b.t.Context(), 1020*time.Millisecond) // between two tries
		defer cancel()
		result := make(chan error, 1)
		go func() {
			result <- b.daemon.HandOver(ctx, pauseWith(), func(*Handover) error { return errReplaced })
		}()
		synctest.Wait()
		b.kill()
		received := make(chan *taskproc.ToTask, 1)
		go func() {
			m, _ := task.Receive()
			received <- m
		}()
		synctest.Wait()
		if len(received) > 0 {
			t.Error("an order was executed during the handover")
		}
		if err := <-result; !errors.Is(err, errBusy) || !strings.Contains(err.Error(), attemptID) {
			t.Errorf("handover of an attempt that is ending: %v", err)
		}
		if m := <-received; m.GetKill() == nil {
			t.Errorf("message %v", m)
		}
		task.end(nil)
	})
}
