package tasknode

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

func (b *rig) orderStart(kind taskproc.Kind) {
	b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{
		Start: &taskproc.Start{JobId: "job_1_0001", AttemptId: attemptID, Kind: kind},
	}}})
}

func (b *rig) acknowledge() {
	b.orders.Put(&wire.Order{Order: &wire.Order_Acknowledge_{Acknowledge: &wire.Order_Acknowledge{AttemptId: attemptID}}})
}

// directories begins a session with a master whose state was restored so many times.
func (b *rig) directories(restores int32) {
	b.orders.Put(&wire.Order{Order: &wire.Order_Directories_{Directories: &wire.Order_Directories{Restores: restores}}})
}

// TestRestoredMasterLearnsOfEndsThatItHasLost starts or kills an attempt whose end was
// acknowledged before. The tasknode reports its end again: from the record of its files, or as an
// end without a result.
func TestRestoredMasterLearnsOfEndsThatItHasLost(t *testing.T) {
	for name, c := range map[string]struct{ retained, kill bool }{
		"a map with files": {retained: true}, "an attempt without files": {}, "killed by the restored master": {kill: true},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *rig) {
				task := b.start(taskproc.Kind_MAP)
				last := &taskproc.Finished{OutputBytes: 5}
				if c.retained {
					last.Outputs = []*taskproc.MapOutput{{Path: filepath.Join(b.attemptDir(), "map.out")}}
				}
				must.Do(t, task.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: last}}))
				task.end(nil)
				<-b.reports // finished
				b.acknowledge()
				for range 2 { // until it is acknowledged again
					if c.kill {
						b.kill()
					} else {
						b.orderStart(taskproc.Kind_MAP)
					}
					synctest.Wait()
					if len(b.tasks) != 0 {
						t.Fatal("the attempt was started again")
					}
					if len(b.reports) == 0 && !c.retained {
						continue // the report waits for its acknowledgement
					}
					r := <-b.reports
					if c.retained && r.GetFinished().GetOutputBytes() != 5 || !c.retained && !strings.Contains(r.GetExited().GetCause(), "restored from a backup") {
						t.Errorf("report %v", r)
					}
				}
				b.acknowledge()
				synctest.Wait()
				if len(b.reports) != 0 {
					t.Errorf("report %v", <-b.reports)
				}
			})
		})
	}
}

// TestRestoredMasterResumesAttempts suspends an attempt after the backup. The state of the restored
// master has it running, so the repeated start resumes it, once.
func TestRestoredMasterResumesAttempts(t *testing.T) {
	run(t, func(b *rig) {
		b.directories(0)
		task := b.start(taskproc.Kind_MAP)
		suspend := func() {
			t.Helper()
			b.orders.Put(&wire.Order{Order: &wire.Order_Suspend{Suspend: &wire.Order_SuspendAttempt{AttemptId: attemptID}}})
			if m, err := task.Receive(); err != nil || m.GetSuspend() == nil {
				t.Fatalf("received %v, %v", m, err)
			}
		}
		suspend()
		b.directories(1)
		b.orderStart(taskproc.Kind_MAP)
		if m, err := task.Receive(); err != nil || m.GetResume() == nil {
			t.Fatalf("received %v, %v", m, err)
		}
		suspend()
		b.directories(1)
		b.orderStart(taskproc.Kind_MAP) // it would resume the attempt between two orders to suspend it
		b.kill()
		if m, err := task.Receive(); err != nil || m.GetKill() == nil {
			t.Errorf("received %v, %v", m, err)
		}
		task.end(nil)
		<-b.reports
	})
}

// TestReadersOfLostOutputEnd sends a running reduce the log of a restored master. If the log lacks
// an output that the reduce may have fetched, the reduce ends. Without a restore, an output that
// is missing was lost, and the reduce continues.
func TestReadersOfLostOutputEnd(t *testing.T) {
	for name, c := range map[string]struct {
		restores int32
		log      string // attempts in the log of the next master
		ends     bool
	}{
		"a new leader, and a lost output":        {0, "a", false},
		"a restored master with all outputs":     {1, "a b", false},
		"a restored master, and a lost output":   {1, "a", true},
		"a restored master that has other tasks": {1, "c d e", true},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *rig) {
				publish := func(attempts ...string) {
					var log taskproc.OutputLog
					for i, a := range attempts {
						log.Add(&taskproc.MapOutput{Task: int32(i), Attempt: a})
					}
					n := uint64(len(attempts))
					b.orders.Put(&wire.Order{Order: &wire.Order_Outputs_{Outputs: &wire.Order_Outputs{
						JobId: "job_1_0001", Next: n, Length: n, Packed: log.Since(0)[0].Packed,
					}}})
				}
				b.directories(0)
				publish("a", "b")
				task := b.start(taskproc.Kind_REDUCE)
				if m, err := task.Receive(); err != nil || len(m.GetOutputs().GetOutputs()) != 2 {
					t.Fatalf("received %v, %v", m, err)
				}
				b.directories(c.restores)
				publish(strings.Fields(c.log)...)
				m, err := task.Receive()
				if err != nil || (m.GetKill() != nil) != c.ends || c.ends && !strings.Contains(m.GetKill().Cause, "such as that of ") {
					t.Fatalf("received %v, %v", m, err)
				}
				if !c.ends {
					publish("a") // later logs of the same master are usual again
					if m, err := task.Receive(); err != nil || m.GetKill() != nil {
						t.Errorf("received %v, %v", m, err)
					}
				}
				task.end(nil)
				r := <-b.reports
				if (r.GetExited() != nil) != c.ends {
					t.Errorf("report %v", r)
				}
			})
		})
	}
}

// TestMastersFromBeforeARestoreAreRefused connects to a restored master and then to one that was
// replaced.
func TestMastersFromBeforeARestoreAreRefused(t *testing.T) {
	run(t, func(b *rig) {
		b.directories(1)
		synctest.Wait()
		b.directories(0)
		if r := <-b.reports; r.GetJoined() == nil {
			t.Errorf("report %v, want a new session", r)
		}
		b.directories(1)
		synctest.Wait()
		if len(b.reports) != 0 {
			t.Errorf("report %v", <-b.reports)
		}
	})
}
