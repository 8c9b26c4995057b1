package jobmaster_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

const (
	eachOnce   = "m_000000_0 m_000001_0 m_000002_0 m_000003_0 r_000000_0 r_000001_0"
	wholeParts = "_SUCCESS part-r-00000 part-r-00001"
)

func (w *testCluster) wantDone(id string) {
	w.t.Helper()
	if s := w.wait(id); s.State != wire.JobState_SUCCEEDED {
		w.t.Fatalf("the job is %v: %s", s.State, s.Cause)
	}
	if got := w.output(); got != wholeParts {
		w.t.Errorf("output is %s", got)
	}
}

func TestChangeOfLeaderRunsNothingAgain(t *testing.T) {
	for _, every := range []time.Duration{300 * time.Millisecond, 700 * time.Millisecond, 1100 * time.Millisecond, 2500 * time.Millisecond} {
		withCluster(t, 3, func(w *testCluster) {
			w.elect(0)
			w.addTasknode("a", 1, 1)
			w.addTasknode("b", 1, 1)
			id := w.submit(4, 2)
			w.daemons.Go(func() {
				for next := 1; ; next = (next + 1) % 3 {
					select {
					case <-w.ctx.Done():
						return
					case <-time.After(every):
						w.elect(next)
					}
				}
			})
			w.wantDone(id)
			if got := w.attempts(); got != eachOnce {
				w.t.Errorf("leader changed every %v: attempts were %s", every, got)
			}
		})
	}
}

func TestLostProposalsAreRepeated(t *testing.T) {
	for _, from := range []time.Duration{0, 500 * time.Millisecond, 999 * time.Millisecond, 1500 * time.Millisecond, 2500 * time.Millisecond} {
		withCluster(t, 2, func(w *testCluster) {
			w.elect(0)
			w.addTasknode("a", 2, 2)
			id := w.submit(4, 2)
			time.Sleep(from)
			w.loseProposals()
			time.Sleep(2 * time.Second)
			w.elect(1)
			w.wantDone(id)
			if got := w.attempts(); got != eachOnce {
				w.t.Errorf("proposals lost from %v on: attempts were %s", from, got)
			}
		})
	}
}

func TestMasterRestoredFromASnapshotLeads(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(4, 2)
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait() // until the log is idle
		w.copyState(0, w.addMaster())
		w.elect(1)
		w.wantDone(id)
		if got := w.attempts(); got != eachOnce {
			w.t.Errorf("attempts were %s", got)
		}
	})
}

// copyState gives a new master the state of another one.
func (w *testCluster) copyState(from, to int) {
	answer := make(chan *cluster.Snapshot, 1)
	w.logs[from].queue.Put(jobmaster.SnapshotWanted{Answer: answer})
	state, err := (<-answer).Restore()
	must.Do(w.t, err)
	w.logs[to].queue.Put(jobmaster.Restored{State: state})
}

func TestSilentTasknodeExpires(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		crash := w.addTasknode("a", 4, 0)
		id := w.submit(4, 2)
		time.Sleep(500 * time.Millisecond) // the maps run on a
		w.addTasknode("b", 4, 2)
		crash()
		began := time.Now()
		w.wantDone(id)
		if took := time.Since(began); took < w.expiry-2*time.Second || took > w.expiry+4*time.Second {
			w.t.Errorf("the job ended %v after the crash, with an expiry of %v", took, w.expiry)
		}
		nodes, err := w.leader().Tasknodes(w.ctx)
		if err != nil || len(nodes) != 2 || nodes[0].State != "LOST" || nodes[1].State != "RUNNING" {
			w.t.Errorf("nodes are %v, %v", nodes, err)
		}
	})
}

func TestRestartedTasknodeLosesItsAttempts(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		crash := w.addTasknode("a", 2, 2)
		id := w.submit(4, 2)
		time.Sleep(1500 * time.Millisecond) // two maps have finished, two run
		crash()
		synctest.Wait()
		w.addTasknode("a", 2, 2)
		w.wantDone(id)
		want := "m_000000_0 m_000000_1 m_000001_0 m_000001_1 m_000002_0 m_000002_1 m_000003_0 m_000003_1"
		if got := w.attempts(); !strings.HasPrefix(got, want) {
			w.t.Errorf("attempts were %s", got)
		}
	})
}

func TestTasknodeThatJoinsGetsWorkAtOnce(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		id := w.submit(4, 2)
		time.Sleep(time.Minute)
		joined := time.Now()
		w.addTasknode("a", 4, 2)
		w.wantDone(id)
		if took := time.Since(joined); took > 2500*time.Millisecond {
			w.t.Errorf("two waves of a second took %v", took)
		}
	})
}

func TestTwoTasknodesOfOneName(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		time.Sleep(time.Second)
		hello := &wire.Report{Machine: "a", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion, Instance: "another"}}}
		_, err := w.leader().Attach(w.ctx, hello, func(*wire.Order) {}, func(error) {})
		if !errors.Is(err, jobmaster.ErrNameTaken) || !strings.Contains(err.Error(), `"a"`) {
			w.t.Errorf("error is %v", err)
		}
	})
}

func TestFollowersRefuse(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		synctest.Wait()
		other := w.masters[1]
		_, submitted := other.Submit(w.ctx, w.staged(w.spec(1, 0)))
		_, followed := other.Watch(w.ctx, "job_1_0001", nil)
		_, listed := other.Jobs(w.ctx, true)
		_, attached := other.Attach(w.ctx, &wire.Report{Machine: "a", Report: &wire.Report_Joined_{Joined: new(wire.Report_Joined)}}, nil, nil)
		for what, err := range map[string]error{
			"submit": submitted, "follow": followed, "list": listed, "attach": attached, "kill": other.Kill(w.ctx, "job_1_0001", "test"),
		} {
			if !errors.Is(err, jobmaster.ErrNotLeader) {
				w.t.Errorf("%s at a follower: %v", what, err)
			}
		}
	})
}

func TestSubmittedTwiceIsOneJob(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		first := w.submit(1, 0)
		w.elect(1)
		if second := w.submit(1, 0); second != first {
			w.t.Errorf("the same submission is %s and %s", first, second)
		}
	})
}

func TestStaleAttemptsAndJobsEndWhenATasknodeAttaches(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		synctest.Wait()
		var orders []string
		hello := &wire.Report{Machine: "a", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion,
			Attempts: []string{"attempt_1_0007_m_000000_0"}, Jobs: []string{"job_1_0007"},
		}}}
		a, err := w.leader().Attach(w.ctx, hello, func(o *wire.Order) {
			if id := o.GetKill().GetAttemptId() + o.GetRemoveJob().GetJobId() + o.GetAcknowledge().GetAttemptId(); id != "" {
				orders = append(orders, id)
			}
		}, func(error) {})
		must.Do(w.t, err)
		a.Report(&wire.Report{Machine: "a", AttemptId: "attempt_1_0007_m_000000_0", Report: &wire.Report_Failed{Failed: new(taskproc.Failure)}})
		synctest.Wait()
		if got, want := strings.Join(orders, " "), "attempt_1_0007_m_000000_0 job_1_0007 attempt_1_0007_m_000000_0"; got != want {
			w.t.Errorf("orders are %s", got)
		}
	})
}

// TestNewLeaderMarksProgressPartial checks the mark until each attempt that runs has
// reported to the new leader.
func TestNewLeaderMarksProgressPartial(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "a:1", 2, 0)
		id := w.submitNow(2, 1)
		half := &wire.Report{Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fraction: .5}}}
		want := func(when string, maps float64, partial bool) {
			t.Helper()
			s, err := w.leader().Job(w.ctx, id, false)
			if err != nil || s.MapProgress != maps || s.ProgressPartial != partial {
				t.Errorf("%s %v of the maps is done, partial %v (%v), expected %v, %v", when, s.GetMapProgress(), s.GetProgressPartial(), err, maps, partial)
			}
		}
		for _, start := range a.starts {
			a.report(start.AttemptId, half)
		}
		want("At the first leader", .5, false)
		w.elect(1)
		synctest.Wait()
		want("At the next one", 0, true)
		again := w.addFakeAgain("a", "a", "a:1", 2, 0, a.starts[0].AttemptId, a.starts[1].AttemptId)
		want("With the tasknode back", 0, true)
		again.report(a.starts[0].AttemptId, half)
		want("With one map reported", .25, true)
		again.report(a.starts[1].AttemptId, half)
		want("With both reported", .5, false)
	})
}
