package jobmaster_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
)

// TestReportWithAnUnknownEdgeFailsItsAttempt reports output for an edge that the graph does not
// have. The attempt fails, the job finishes with the next one, and a master that applies the
// whole log from its beginning has the same state.
func TestReportWithAnUnknownEdgeFailsItsAttempt(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 1, 1)
		id := w.submitNow(1, 1)
		synctest.Wait()
		if len(a.starts) == 0 {
			t.Fatal("no attempt has started")
		}
		first := a.starts[0]
		a.report(first.AttemptId, &wire.Report{Report: &wire.Report_Finished{Finished: &taskproc.Finished{
			Range: first.Range, Outputs: []*taskproc.MapOutput{{Edge: 99, Attempt: first.AttemptId, Path: "/a"}},
		}}})
		s, err := w.leader().Job(w.ctx, id, true)
		if err != nil || len(s.Failures) != 1 || !strings.Contains(s.Failures[0].Cause, "edge 99: the job's graph has 1 edges") {
			t.Fatalf("%v; failures are %v", err, s.GetFailures())
		}
		if c := w.published().Counts; c.Attempts["failed"] != 1 || c.Failures["task"] != 1 {
			t.Errorf("counted are %+v", c)
		}
		w.elect(-1) // nothing is committed until the new master has the log
		synctest.Wait()
		w.addMaster()
		w.replay(1)
		w.elect(1)
		b := w.addFakeAgain("a", "a2", "a:1", 1, 1)
		synctest.Wait()
		for n := 0; n < len(b.starts); n++ { // finishing one may start another
			b.finish(b.starts[n])
		}
		w.wantSucceeded(id)
	})
}

// replay yields all committed batches to a master, as a log does to a master that starts.
func (w *testCluster) replay(master int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, batch := range w.mu.entries {
		w.logs[master].queue.Put(jobmaster.Committed{Batch: batch})
	}
}

// TestLongSetOfEmptyPartitionsFailsItsAttempt reports a set with more bits than the edge has
// partitions. The set is not in the log, so only the master that receives it can refuse it.
func TestLongSetOfEmptyPartitionsFailsItsAttempt(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 1, 1)
		id := w.submitNow(1, 1)
		synctest.Wait()
		first := a.starts[0]
		a.report(first.AttemptId, &wire.Report{Report: &wire.Report_Finished{Finished: &taskproc.Finished{
			Range: first.Range, Outputs: []*taskproc.MapOutput{{Attempt: first.AttemptId, Path: "/a", Empty: make([]byte, 2)}},
		}}})
		s, err := w.leader().Job(w.ctx, id, true)
		const cause = "output for edge 0: 2 bytes of empty partitions, and the edge has 1 partitions"
		if err != nil || len(s.Failures) != 1 || s.Failures[0].Cause != cause {
			t.Fatalf("%v; failures are %v", err, s.GetFailures())
		}
		synctest.Wait()
		for n := 1; n < len(a.starts); n++ { // finishing one may start another
			a.finish(a.starts[n])
		}
		w.wantSucceeded(id)
	})
}
