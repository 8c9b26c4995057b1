package jobmaster_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/tasknode"
)

// TestLostMachineCostsOnlyWhatWasNotFetched runs two maps on a machine that is lost, or
// whose tasknode restarts without their output. A reduce elsewhere has fetched one
// output or both, and then fails.
func TestLostMachineCostsOnlyWhatWasNotFetched(t *testing.T) {
	for name, c := range map[string]struct {
		fetched   byte
		restarted bool
		lost      string // the maps' states once the machine is lost
		failed    string // once the reduce has failed
	}{
		"nothing":            {0, false, "RUNNING PENDING", "RUNNING PENDING"},
		"one":                {2, false, "RUNNING SUCCEEDED", "RUNNING PENDING"},
		"all":                {3, false, "SUCCEEDED SUCCEEDED", "RUNNING PENDING"},
		"too much":           {255, false, "SUCCEEDED SUCCEEDED", "RUNNING PENDING"},
		"nothing, restarted": {0, true, "RUNNING PENDING", "RUNNING PENDING"},
		"one, restarted":     {2, true, "RUNNING SUCCEEDED", "RUNNING PENDING"},
		"all, restarted":     {3, true, "SUCCEEDED SUCCEEDED", "RUNNING PENDING"},
	} {
		t.Run(name, func(t *testing.T) {
			withCluster(t, 1, func(w *testCluster) {
				w.elect(0)
				crash := w.addTasknodeOf(tasknode.Config{Name: "a", MapSlots: 2, Dirs: []string{t.TempDir()}})
				id := w.submit(2, 1)
				w.sleep(1500 * time.Millisecond)
				var reduce string
				hello := &wire.Report{Machine: "b", Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion, Instance: "b1", ReduceSlots: 1}}}
				b, err := w.leader().Attach(w.ctx, hello, func(o *wire.Order) {
					if start := o.GetStart().GetStart(); start != nil {
						reduce = start.AttemptId
					}
				}, func(error) {})
				must.Do(t, err)
				say := func(r *wire.Report) {
					r.Machine, r.AttemptId = "b", reduce
					b.Report(r)
					synctest.Wait()
				}
				synctest.Wait()
				say(&wire.Report{Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fetched: []*taskproc.Fetched{{Nodes: []byte{c.fetched}}}}}})
				crash()
				next, seconds := "c", 12 // by then the silent machine is lost
				if c.restarted {
					next, seconds = "a", 1
				}
				for range seconds {
					w.sleep(time.Second)
					say(&wire.Report{Report: &wire.Report_Progress{Progress: &taskproc.Progress{Fraction: .1}}})
				}
				hello = &wire.Report{Machine: next, Report: &wire.Report_Joined_{Joined: &wire.Report_Joined{JobVersion: taskproc.JobVersion, Instance: "restarted", MapSlots: 1}}}
				if _, err := w.leader().Attach(w.ctx, hello, func(*wire.Order) {}, func(error) {}); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				w.wantMaps(id, "with the machine lost", c.lost)
				say(&wire.Report{Report: &wire.Report_Failed{Failed: &taskproc.Failure{Cause: "disk"}}})
				w.wantMaps(id, "with the reduce failed", c.failed)
			})
		})
	}
}

// wantMaps checks the states of the job's two maps.
func (w *testCluster) wantMaps(job, when, want string) {
	w.t.Helper()
	s, err := w.leader().Job(w.ctx, job, true)
	must.Do(w.t, err)
	var states []string
	for _, task := range s.Tasks[:2] {
		states = append(states, strings.TrimPrefix(task.State.String(), "TASK_"))
	}
	if got := strings.Join(states, " "); got != want {
		w.t.Errorf("%s the maps are %s, want %s", when, got, want)
	}
	if explained := strings.Contains(strings.Join(w.explain(job, s.Tasks[1].Id).Task.Reasons, " "), "its output was lost with a"); explained != strings.HasSuffix(want, "SUCCEEDED") {
		w.t.Errorf("%s the reasons say that its output is lost: %v", when, explained)
	}
}
