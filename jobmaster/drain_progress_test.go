package jobmaster_test

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/docs/apidoc"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// drainOf returns the progress of the draining of a tasknode as the leader shows it.
func (w *testCluster) drainOf(name string) *apidoc.Drain {
	w.t.Helper()
	n, err := w.leader().Tasknode(w.ctx, name)
	must.Do(w.t, err)
	return n.Drain
}

// recent returns what was moved in the time over which a rate is measured.
func recent(d *apidoc.Drain, perSecond float64) int64 {
	return int64(math.Round(perSecond * float64(d.RateMillis) / 1000))
}

// TestDrainReportsItsProgress drains a tasknode with two outputs and a running attempt. The next leader
// has counted too.
func TestDrainReportsItsProgress(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		a, b := w.addFake("a", "a:1", 3, 0), w.addFake("b", "b:1", 0, 1)
		a.bytes = 1000
		w.submitNow(3, 1)
		a.finish(a.starts[0])
		a.finish(a.starts[1])
		if w.drainOf("a") != nil {
			t.Error("a drain before the drain")
		}
		began := time.Now().UnixMilli()
		w.wantErr("draining", w.leader().DrainTasknode(w.ctx, "a", false, 10*time.Minute), nil, "")
		synctest.Wait()
		d := w.drainOf("a")
		if s := d.Start; d.Since != began || d.Partly || d.Deadline != began+600_000 || s.Attempts != 1 || s.Outputs != 2 || s.Bytes != 2000 || d.Left.Bytes != 2000 || d.Moved != 0 {
			t.Errorf("at the start: %v", d)
		}
		w.sleep(3 * time.Second)
		b.reportCopy(b.copies[0], "")
		check := func(when string) {
			t.Helper()
			d := w.drainOf("a")
			if d.Since != began || d.Partly || d.Left.Outputs != 1 || d.Left.Bytes != 1000 || d.Moved != 1 || d.MovedBytes != 1000 || recent(d, d.MovedPerSecond) != 1 || recent(d, d.BytesPerSecond) != 1000 ||
				len(d.Targets) != 1 || d.Targets[0].Node != "b" || d.Targets[0].Bytes != 1000 || d.Deadline != began+600_000 {
				t.Errorf("%s: %v", when, d)
			}
		}
		check("with one copy")
		if d := w.drainOf("a"); d.RateMillis < 3000 || d.RateMillis > 4000 {
			t.Errorf("measured over %d ms", d.RateMillis)
		}
		w.elect(1)
		synctest.Wait()
		check("under the next leader")
		w.wantErr("a new deadline", w.leader().DrainTasknode(w.ctx, "a", false, time.Hour), nil, "")
		if d := w.drainOf("a"); d.Since != began || d.Deadline < began+3_600_000 {
			t.Errorf("with a new deadline: %v", d)
		}
		w.wantErr("admitting", w.leader().AdmitTasknode(w.ctx, "a", false), nil, "")
		synctest.Wait()
		if d := w.drainOf("a"); d != nil {
			t.Errorf("admitted: %v", d)
		}
	})
}

// TestNodeSaysWhatRuns asks for a tasknode whose attempt has reported progress.
func TestNodeSaysWhatRuns(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 1, 0)
		w.submitNow(1, 0)
		a.report(a.starts[0].AttemptId, &wire.Report{Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fraction: .5}}})
		n, err := w.leader().Tasknode(w.ctx, "a")
		if err != nil || len(n.Running) != 1 || n.Running[0].ID != a.starts[0].AttemptId || n.Running[0].Progress != .5 || n.Running[0].State != "RUNNING" {
			t.Errorf("%v, %v", n, err)
		}
	})
}

// TestUsersAreInTheLog changes something as a user. All masters know the user then.
func TestUsersAreInTheLog(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 0)
		w.addTasknode("b", 1, 0)
		w.sleep(time.Second)
		w.wantErr("draining", w.leader().DrainTasknode(jobmaster.WithUser(w.ctx, "ann"), "a", false, time.Minute), nil, "")
		w.sleep(time.Second)
		if d := w.drainOf("a"); d == nil || d.Deadline == 0 {
			t.Errorf("drained: %v", d)
		}
		for i, m := range w.masters {
			if got := m.Board().Snapshot().Actions; len(got) != 1 || got[0].User != "ann" || got[0].Do != "node.drain" || got[0].ID != "a" {
				t.Errorf("actions on master %d: %v", i, got)
			}
		}
	})
}
