package jobmaster_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/preempt"
)

// TestCountsOfALead runs attempts to different ends. The next leader counts from 0.
func TestCountsOfALead(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 4, 0)
		w.submitNow(5, 0)
		a.finish(a.starts[0])
		a.own.Report(&wire.Report{Machine: "a", AttemptId: a.starts[1].AttemptId, Report: &wire.Report_Failed{Failed: &taskproc.Failure{Cause: "bad input", Offset: -1}}})
		synctest.Wait()
		if _, err := w.leader().PreemptAttempt(w.ctx, a.starts[2].AttemptId, preempt.Kill); err != nil {
			t.Error(err)
		}
		s := w.published()
		if got := s.Counts; got.Launches["any"]+got.Launches["other"] != 6 || got.Launches["node"] != 0 {
			t.Errorf("launches: %v", got.Launches)
		}
		if want := map[string]int64{"succeeded": 1, "failed": 1, "killed": 0, "preempted": 1}; !maps.Equal(s.Counts.Attempts, want) {
			t.Errorf("attempts: %v, want %v", s.Counts.Attempts, want)
		}
		if want := map[string]int64{"task": 1, "timeout": 0, "fetch": 0, "storage": 0, "checkpoint": 0}; !maps.Equal(s.Counts.Failures, want) {
			t.Errorf("failures: %v, want %v", s.Counts.Failures, want)
		}
		if rows, _ := w.leader().Board().Preemptions(); len(rows) != 1 || rows[0].Mode != preempt.Kill || rows[0].Asked != 1 || rows[0].For != "" {
			t.Errorf("preemptions: %+v, want that of a user", rows)
		}
		if len(s.Pools) != 1 || s.Pools[0].Name != cluster.DefaultPool || s.Pools[0].Used[cluster.MapSlot] != 4 || s.Pools[0].Running+s.Pools[0].Pending != 4 {
			t.Errorf("pools: %+v", s.Pools)
		}
		w.elect(1)
		if s := w.published(); s.Counts.Attempts["succeeded"] != 0 || len(s.Counts.Launches) != 4 {
			t.Errorf("the next leader has counted %+v", s.Counts)
		}
	})
}

// TestMetersOfTheLoop keeps the loop busy for 3 s, with requests that wait.
func TestMetersOfTheLoop(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(cfg *jobmaster.Config) { cfg.MaxRequests = 3 }
		w.addMaster()
		w.elect(0)
		synctest.Wait()
		m := w.leader()
		m.Post(func() { time.Sleep(3 * time.Second) })
		synctest.Wait()
		for range 5 {
			go m.Jobs(w.ctx, true)
		}
		synctest.Wait()
		if got := m.Meters(); got.Inbox != 3 || got.Refused != 2 {
			t.Errorf("while the loop is busy: %+v", got)
		}
		time.Sleep(3 * time.Second)
		synctest.Wait()
		got := m.Meters()
		if got.Inbox != 0 || got.InboxPeak != 3 || got.Turns.Max != 3*time.Second || got.Turns.Total != 3*time.Second || got.Decisions.Count == 0 {
			t.Errorf("after that: %+v", got)
		}
		turns := got.Turns.Count
		w.submit(1, 0)
		if got := m.Meters(); got.Turns.Count <= turns || got.Batches.Max == 0 {
			t.Errorf("after a submission: %+v", got)
		}
		time.Sleep(3 * time.Minute)
		w.submit(1, 0)
		time.Sleep(time.Minute)
		w.submit(1, 0)
		if got := m.Meters(); got.InboxPeak != 1 {
			t.Errorf("minutes later: %+v", got)
		}
	})
}

// published returns what the leader publishes after a second.
func (w *testCluster) published() *jobmaster.Stats {
	w.t.Helper()
	time.Sleep(time.Second)
	answered := make(chan struct{})
	w.leader().CheckLoop(func() { close(answered) })
	<-answered
	return w.leader().Stats()
}
