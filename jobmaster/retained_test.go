package jobmaster_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/tasknode"
)

const firstTries = "m_000000_0 m_000001_0 m_000002_0 m_000003_0 r_000000_0 r_000001_0"

func TestRestartedTasknodeRetainsItsOutput(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		dir := w.t.TempDir()
		crash := w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 4, Dirs: []string{dir}})
		id := w.submit(4, 2)
		time.Sleep(1500 * time.Millisecond) // the maps have finished
		crash()
		synctest.Wait()
		w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 4, ReduceSlots: 2, Dirs: []string{dir}})
		w.wantDone(id)
		if got := w.attempts(); got != firstTries {
			t.Errorf("attempts were %s", got)
		}
	})
}

func TestRestartedTasknodeBringsItsOutputBack(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		dir := w.t.TempDir()
		crash := w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 4, Dirs: []string{dir}})
		id := w.submit(4, 2)
		time.Sleep(1500 * time.Millisecond) // the maps have finished
		crash()
		time.Sleep(2 * w.expiry)
		if s, err := w.leader().Job(w.ctx, id, true); err != nil || s.MapsDone != 0 {
			t.Errorf("%d maps count as done, %v", s.GetMapsDone(), err)
		}
		w.addTasknodeOf(tasknode.Config{Name: "a", ReduceSlots: 2, Dirs: []string{dir}})
		w.wantDone(id)
		if got := w.attempts(); got != firstTries {
			t.Errorf("attempts were %s", got)
		}
	})
}

func TestFirstFinishedWinsWhenATasknodeReturns(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		dir := w.t.TempDir()
		crash := w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 2, Dirs: []string{dir}})
		id := w.submit(4, 2)
		time.Sleep(1500 * time.Millisecond) // maps 0 and 1 have finished
		crash()
		time.Sleep(2 * w.expiry)
		w.addTasknode("b", 1, 0)
		time.Sleep(1500 * time.Millisecond) // b has finished map 0 and runs map 1
		w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 2, ReduceSlots: 2, Dirs: []string{dir}})
		w.wantDone(id)
		s, err := w.leader().Job(w.ctx, id, true)
		must.Do(t, err)
		for number, want := range []int{1, 0} {
			for n, a := range s.Tasks[number].Attempts {
				if won := a.State == wire.AttemptState_ATTEMPT_SUCCEEDED; won != (n == want) {
					t.Errorf("%s is %v", a.Id, a.State)
				}
			}
		}
	})
}

// TestReadersGetTheNewAddressOfATasknode uses a fake tasknode for the reduce.
func TestReadersGetTheNewAddressOfATasknode(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		dir := w.t.TempDir()
		crash := w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 1, Dirs: []string{dir}, Address: "old:1"})
		synctest.Wait()
		received := make(map[string]*taskproc.MapOutput)
		hello := &wire.Report{Machine: "b", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion, ReduceSlots: 1}}}
		_, err := w.leader().Attach(w.ctx, hello, func(o *wire.Order) {
			outputs, revoked, err := taskproc.UnpackOutputs(0, o.GetOutputs().GetPacked())
			if err != nil {
				t.Error(err)
			}
			for _, attempt := range revoked {
				delete(received, attempt)
			}
			for _, out := range outputs {
				received[out.Attempt] = out
			}
		}, func(error) {})
		must.Do(t, err)
		w.submit(1, 1)
		want := func(address string) {
			t.Helper()
			synctest.Wait()
			for _, out := range received {
				if out.Address == address && len(received) == 1 && strings.HasSuffix(out.Attempt, "m_000000_0") {
					return
				}
			}
			t.Errorf("the reduce has received %v, want one output at %s", received, address)
		}
		time.Sleep(1500 * time.Millisecond)
		want("old:1")
		crash()
		synctest.Wait()
		w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 1, Dirs: []string{dir}, Address: "new:2"})
		want("new:2")
	})
}

// TestRetainedOutputsOfOthersAreIgnored lets a tasknode report outputs that it cannot have.
func TestRetainedOutputsOfOthersAreIgnored(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 4, 0)
		w.submit(4, 2)
		time.Sleep(1500 * time.Millisecond)
		var repeats int
		hello := &wire.Report{Machine: "b", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion,
			Retained: []string{"attempt_1_0001_m_000001_0", "attempt_1_0007_m_000000_0", "nonsense"},
		}}}
		b, err := w.leader().Attach(w.ctx, hello, func(o *wire.Order) {
			if o.GetResendReport() != nil {
				repeats++
			}
		}, func(error) {})
		must.Do(t, err)
		b.Report(&wire.Report{Machine: "b", AttemptId: "attempt_1_0001_m_000001_0", Report: &wire.Report_Finished{Finished: new(taskproc.Finished)}})
		synctest.Wait()
		if repeats != 0 {
			t.Errorf("asked %d times", repeats)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, batch := range w.mu.entries {
			for _, e := range batch {
				switch c := e.Command.(type) {
				case cluster.RestoreOutput:
					t.Errorf("proposed %v", c)
				case cluster.JoinMachine:
					if len(c.Retained) > 0 {
						t.Errorf("joined with %v", c.Retained)
					}
				}
			}
		}
	})
}

// TestTasknodeThatJoinsARunningJobGetsWorkAtOnce runs a job whose tasks get no slots on the
// first tasknode.
func TestTasknodeThatJoinsARunningJobGetsWorkAtOnce(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(60, 2)
		time.Sleep(10200 * time.Millisecond)
		began := strings.Count(w.attempts(), "m_")
		w.addTasknode("b", 30, 0)
		synctest.Wait()
		if now := strings.Count(w.attempts(), "m_"); now != began+30 {
			t.Errorf("%d attempts had begun, %d after the tasknode had joined", began, now)
		}
		w.wantDone(id)
	})
}

// TestExpiredTasknodeBringsItsOutputBack uses a fake tasknode that finishes an attempt
// while it is cut off, and expires meanwhile.
func TestExpiredTasknodeBringsItsOutputBack(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		synctest.Wait()
		const attempt = "attempt_1_0001_m_000000_0"
		done := &wire.Report{Machine: "a", AttemptId: attempt, Report: &wire.Report_Finished{Finished: &taskproc.Finished{
			Outputs: []*taskproc.MapOutput{{Attempt: attempt, Path: "/p", IndexChecksum: 7}},
		}}}
		attach := func(retained ...string) (a *jobmaster.Attachment, repeats *[]string) {
			repeats = new([]string)
			a, err := w.leader().Attach(w.ctx, &wire.Report{Machine: "a", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion,
				Instance: "the same", MapSlots: 1, Retained: retained,
			}}}, func(o *wire.Order) {
				if r := o.GetResendReport(); r != nil {
					*repeats = append(*repeats, r.AttemptId)
				}
			}, func(error) {})
			must.Do(t, err)
			synctest.Wait()
			return a, repeats
		}
		maps := func(want int32) {
			t.Helper()
			synctest.Wait()
			s, err := w.leader().Job(w.ctx, "job_1_0001", false)
			if err != nil || s.MapsDone != want {
				t.Errorf("%d maps are done, %v; want %d", s.GetMapsDone(), err, want)
			}
		}
		a, _ := attach()
		w.submit(1, 1)
		synctest.Wait()
		a.Report(done)
		maps(1)
		a.Detach()
		time.Sleep(2 * w.expiry)
		maps(0)
		a, repeats := attach(attempt)
		if len(*repeats) != 1 || (*repeats)[0] != attempt {
			t.Errorf("asked for %v", *repeats)
		}
		a.Report(done)
		maps(1)
		a.Report(done)
		maps(1)
	})
}
