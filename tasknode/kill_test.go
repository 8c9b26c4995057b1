package tasknode

import (
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/internal/wire"
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
		b.start(taskproc.Kind_MAP).end(nil) // nothing of it is left
		<-b.reports
	})
}
