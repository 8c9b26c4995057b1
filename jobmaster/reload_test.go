package jobmaster_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// live returns the settings of the masters of a test that may change.
func (w *testCluster) live() jobmaster.Reloadable {
	return jobmaster.Reloadable{Retention: 24 * time.Hour, KeepJobs: 2, KeepTasks: 1000, TasknodeExpiry: w.expiry, TasknodeForget: w.forget}
}

// TestReloadReplacesThePoolFile names another pool file, then none, while the master leads.
func TestReloadReplacesThePoolFile(t *testing.T) {
	withPoolFile(t, `<pool name="a"/>`, func(w *testCluster, _ *poolFile) {
		w.wantQueues("a", "adhoc", "default")
		other := new(poolFile)
		other.write(`<pool name="b"/>`)
		var cfg jobmaster.Config
		other.follow(&cfg)
		live := w.live()
		live.PoolFile = cfg.PoolFile
		live.PoolFile.Name = "other.xml"
		w.leader().Reload(live)
		w.sleep(time.Second)
		w.wantQueues("adhoc", "b", "default")
		if a := w.policy().Allocations; a.File != "other.xml" || a.Taken == 0 {
			t.Errorf("the file is %v", a)
		}
		w.leader().Reload(w.live())
		w.sleep(time.Second)
		if a := w.policy().Allocations; a != nil {
			t.Errorf("without a file: %v", a)
		}
		other.write(`<pool name="c"/>`)
		w.sleep(time.Minute)
		w.wantQueues("adhoc", "b", "default")
	})
}

// TestReloadChangesWhatIsKept lowers the number of finished jobs that are kept.
func TestReloadChangesWhatIsKept(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("n", 2, 1)
		live := w.live()
		live.KeepJobs = 10
		w.leader().Reload(live)
		w.runJobs(5, 1)
		w.sleep(time.Minute)
		listed := func() int {
			t.Helper()
			jobs, err := w.leader().Jobs(w.ctx, true)
			must.Do(t, err)
			return len(jobs)
		}
		if n := listed(); n != 5 {
			t.Errorf("%d jobs are listed, want 5", n)
		}
		live.KeepJobs = 1
		w.leader().Reload(live)
		w.sleep(time.Minute)
		if n := listed(); n != 1 {
			t.Errorf("%d jobs are listed after the reload, want 1", n)
		}
	})
}

// TestReloadChangesTheExpiry lets a tasknode be silent for longer than the first setting.
func TestReloadChangesTheExpiry(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		n := w.addFake("n", "n:7071", 1, 1)
		live := w.live()
		live.TasknodeExpiry = 3 * w.expiry
		w.leader().Reload(live)
		n.own.Detach()
		w.sleep(2 * w.expiry)
		if s := w.states(); strings.Contains(s, "LOST") {
			t.Errorf("after twice the first expiry: %s", s)
		}
		w.sleep(2 * w.expiry)
		if s := w.states(); !strings.Contains(s, "LOST") {
			t.Errorf("after four times the first expiry: %s", s)
		}
	})
}

// TestTasknodesLearnWhetherTheyGetTasks drains, removes and adds a tasknode.
func TestTasknodesLearnWhetherTheyGetTasks(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addFake("other", "other:7071", 1, 1)
		n := w.addFake("n", "n:7071", 1, 1)
		w.sleep(time.Second)
		admit := func(excluded bool) {
			t.Helper()
			w.wantErr("admitting", w.leader().AdmitTasknode(w.ctx, "n", excluded), nil, "")
		}
		w.wantErr("draining", w.leader().DrainTasknode(w.ctx, "n", true, 0), nil, "")
		admit(false)
		w.drain("n")
		admit(true)
		w.sleep(time.Second)
		synctest.Wait()
		want := []string{"", "drained until it restarts", "", "drained", "removed by 'hammr node remove'"}
		if got := slices.Compact(n.refusals); !slices.Equal(got, want) {
			t.Errorf("the tasknode got %q, want %q", got, want)
		}
	})
}
