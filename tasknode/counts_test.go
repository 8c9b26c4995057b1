package tasknode

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestCountsOfAttempts runs attempts to different ends: one fails, one is killed before it
// starts, and one finishes.
func TestCountsOfAttempts(t *testing.T) {
	run(t, func(b *rig) {
		begin := func(attempt string) *fakeTask {
			b.orders.Put(&wire.Order{Order: &wire.Order_Start{Start: &wire.Order_StartAttempt{Start: &taskproc.Start{
				JobId: "job_1_0001", AttemptId: attempt, Kind: taskproc.Kind_MAP, Properties: map[string]string{"mapreduce.map.memory.mb": "300"},
			}}}})
			<-b.reports // started
			return <-b.tasks
		}
		want := func(when string, want Counts) {
			t.Helper()
			synctest.Wait()
			if got := b.daemon.Counts(); got != want {
				t.Errorf("%s: %+v, want %+v", when, got, want)
			}
		}
		first := begin("attempt_1_0001_m_000000_0")
		second := begin("attempt_1_0001_m_000001_0")
		want("two attempts run", Counts{Started: 2, Running: 2, MemoryMB: 600})
		first.end(errors.New("crash"))
		<-b.reports
		want("one has failed", Counts{Started: 2, Failed: 1, Running: 1, MemoryMB: 300})
		b.orders.Put(&wire.Order{Order: &wire.Order_Kill{Kill: &wire.Order_KillAttempt{AttemptId: "attempt_1_0001_m_000002_0", Cause: "enough"}}})
		<-b.reports
		want("one was killed before its start", Counts{Started: 2, Failed: 1, Killed: 1, Running: 1, MemoryMB: 300})
		if _, err := second.Receive(); err != nil {
			t.Fatal(err)
		}
		must.Do(t, second.Send(&taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: new(taskproc.Finished)}}))
		second.end(nil)
		<-b.reports
		want("one has finished", Counts{Started: 2, Succeeded: 1, Failed: 1, Killed: 1})
	})
}
