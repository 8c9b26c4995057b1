package jobmaster_test

import (
	"testing"
	"testing/synctest"
)

// TestARestartedTasknodeHearsNothingOfWhatItWasBefore though the start of an attempt there
// was on its way through the log when it attached: that ends as it joins. What it had
// finished is lost, and runs again.
func TestARestartedTasknodeHearsNothingOfWhatItWasBefore(t *testing.T) {
	inWorld(t, 1, func(w *world) {
		w.elect(0)
		before := w.addPuppet("a", "a:1", 1, 0)
		w.submitNow(2, 1)
		if synctest.Wait(); len(before.starts) != 1 {
			t.Fatalf("it has started %v", before.starts)
		}
		w.holdProposals(1)
		before.finishes(before.starts[0])
		before.own.Detach()
		after := w.addPuppetAgain("a", "a2", "a:2", 1, 0)
		w.holdProposals(-1)
		synctest.Wait()
		if len(after.starts) != 1 || after.starts[0].AttemptId != "attempt_1_0001_m_000000_1" {
			t.Fatalf("it is to start %v", after.starts)
		}
	})
}
