package jobmaster_test

import (
	"testing"
	"testing/synctest"
)

// TestOrdersForAnEarlierInstanceAreDropped restarts a tasknode while the start of an
// attempt there is on its way through the log: the attempt ends when the tasknode joins.
// The outputs of the earlier instance are lost, and their tasks run again.
func TestOrdersForAnEarlierInstanceAreDropped(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		before := w.addFake("a", "a:1", 1, 0)
		w.submitNow(2, 1)
		if synctest.Wait(); len(before.starts) != 1 {
			t.Fatalf("it has started %v", before.starts)
		}
		w.delayProposals(1)
		before.finish(before.starts[0])
		before.own.Detach()
		after := w.addFakeAgain("a", "a2", "a:2", 1, 0)
		w.delayProposals(-1)
		synctest.Wait()
		if len(after.starts) != 1 || after.starts[0].AttemptId != "attempt_1_0001_m_000000_1" {
			t.Fatalf("it is to start %v", after.starts)
		}
	})
}
