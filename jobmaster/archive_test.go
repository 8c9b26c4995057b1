package jobmaster_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/storage"
	"github.com/hammr/hammr/storage/fault"
)

// runJobs runs jobs of one map, one after the other, and returns their ids.
func (w *testCluster) runJobs(n int, first uint64) (ids []string) {
	w.t.Helper()
	time.Sleep(time.Second)
	for i := range n {
		spec := w.spec(1, 0)
		spec.Sequence, spec.OutputDir, spec.Name = first+uint64(i), "", fmt.Sprintf("job %d", i)
		id, err := w.leader().Submit(w.ctx, w.staged(spec))
		must.Do(w.t, err)
		w.wait(id)
		ids = append(ids, id)
	}
	time.Sleep(time.Second)
	return ids
}

// list returns the names of the files in a directory; none if it does not exist.
func (w *testCluster) list(dir string) (names []string) {
	w.t.Helper()
	entries, err := w.fs.List(w.ctx, dir)
	if err != nil && !errors.Is(err, storage.ErrCorrupt) && !strings.Contains(err.Error(), "not exist") {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, path.Base(e.Path))
	}
	return names
}

// TestHistoriesLieInDaysWithAnIndex runs jobs on two days and lists the retired ones, which
// only the indexes of their days have.
func TestHistoriesLieInDaysWithAnIndex(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 2)
		first := w.runJobs(3, 1)
		time.Sleep(24 * time.Hour)
		midnight := time.Date(2000, 1, 2, 0, 0, 0, 0, time.UTC).UnixMilli()
		second := w.runJobs(3, 4)
		synctest.Wait()
		if got := strings.Join(w.list("/history"), " "); got != "2000-01-01 2000-01-02" {
			t.Errorf("the directory has %s", got)
		}
		days := strings.Join(w.list("/history/2000-01-01"), " ") + " " + strings.Join(w.list("/history/2000-01-02"), " ")
		for _, id := range append(first, second...) {
			if !strings.Contains(days, id+".jsonl") {
				t.Errorf("%s has no history in %s", id, days)
			}
		}
		for since, want := range map[int64]string{1: strings.Join(append(first, second...), " "), midnight: strings.Join(second, " ")} {
			jobs, err := w.leader().JobsSince(w.ctx, since)
			var got []string
			for _, j := range jobs {
				got = append(got, j.JobId)
				if j.State != wire.JobState_SUCCEEDED || j.Maps != 1 || j.MapsDone != 1 || j.MapProgress != 1 || !strings.HasPrefix(j.Name, "job ") || j.FinishTime == 0 || j.StartTime == 0 {
					t.Errorf("listed as %v", j)
				}
			}
			if err != nil || strings.Join(got, " ") != want {
				t.Errorf("since %d: %v, %v; want %s", since, got, err, want)
			}
		}
	})
}

// TestJobsThatRetireAreListed retires jobs while a list of jobs reads the indexes: it has read
// those of the day on which the jobs finished, and waits for those of the day before.
func TestJobsThatRetireAreListed(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		var waits atomic.Bool
		w.fs = fault.New(w.fs, fault.Options{Ask: func(op fault.Op, name string) (time.Duration, error) {
			if op == fault.List && name == "/history/2000-01-01" && waits.CompareAndSwap(true, false) {
				pass(time.Minute)
			}
			return 0, nil
		}})
		w.elect(0)
		w.addTasknode("a", 2, 2)
		w.runJobs(1, 1)
		w.sleep(24 * time.Hour)
		second := w.runJobs(1, 2)[0]
		waits.Store(true)
		listed := make(chan string, 1)
		go func() {
			jobs, err := w.leader().JobsSince(w.ctx, 1)
			listed <- fmt.Sprint(jobs, err)
		}()
		w.runJobs(5, 3)
		if jobs, err := w.leader().Jobs(w.ctx, true); err != nil || strings.Contains(fmt.Sprint(jobs), second) {
			t.Errorf("%s is not retired: %v", second, err)
		}
		if got := <-listed; !strings.Contains(got, second) {
			t.Errorf("listed are %s, without %s", got, second)
		}
	})
}

// TestSlowHistoryLosesNoOther writes histories slowly, one of a job with more tasks than
// Config.KeepTasks. All jobs that have finished meanwhile get a history too.
func TestSlowHistoryLosesNoOther(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(c *jobmaster.Config) { c.KeepTasks, c.KeepJobs = 10, 1000 }
		w.fs = fault.New(w.fs, fault.Options{Ask: func(op fault.Op, name string) (time.Duration, error) {
			if op == fault.Create && strings.HasPrefix(name, "/history/") {
				pass(time.Minute)
			}
			return 0, nil
		}})
		w.addMaster()
		w.elect(0)
		w.addTasknode("a", 20, 2)
		w.wantSucceeded(w.submit(20, 0))
		w.runJobs(8, 2)
		w.sleep(5 * time.Minute)
		if files := w.list("/history/2000-01-01"); len(files) != 9 {
			t.Errorf("the histories of %d jobs are written: %v", len(files), files)
		}
	})
}

// TestUnwritableHistories runs jobs while the history directory refuses every file. The
// leader tries few histories at once, keeps a bounded number of tasks, says why, and writes
// the histories that are left when it can.
func TestUnwritableHistories(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		var refuse atomic.Bool
		tried := make(map[string]bool)
		var lock sync.Mutex
		w.configure = func(c *jobmaster.Config) {
			resolve := c.Resolve
			c.KeepTasks, c.KeepJobs = 8, 1000
			c.Resolve = func(ctx context.Context, name string) (storage.FS, string, error) {
				if strings.HasPrefix(name, "mem:///history/") && refuse.Load() {
					lock.Lock()
					defer lock.Unlock()
					tried[path.Base(name)] = true
					return nil, "", errors.New("quota exceeded")
				}
				return resolve(ctx, name)
			}
		}
		w.addMaster()
		w.addMaster()
		w.elect(0)
		w.addTasknode("a", 2, 2)
		refuse.Store(true)
		w.runJobs(20, 1)
		check := func(m *jobmaster.Master) {
			t.Helper()
			jobs, err := m.Jobs(w.ctx, true)
			if p := m.HistoryProblem(); err != nil || len(jobs) > 8 || len(jobs) < 5 || p.Unwritten != len(jobs) || p.Error != "quota exceeded" {
				t.Errorf("%d jobs are left, %v; problem %+v", len(jobs), err, p)
			}
		}
		check(w.leader())
		clear(tried)
		w.elect(1)
		time.Sleep(10 * time.Second)
		check(w.leader())
		if len(tried) != 4 {
			t.Errorf("the new leader writes the histories of %d jobs at once", len(tried))
		}
		refuse.Store(false)
		time.Sleep(2 * time.Minute)
		if p := w.leader().HistoryProblem(); p != (jobmaster.HistoryProblem{}) || len(w.list("/history/2000-01-01")) < 5 {
			t.Errorf("problem %+v, histories %v", p, w.list("/history/2000-01-01"))
		}
	})
}

// TestArchivedJobsAreListedAndDescribed compares what users see of an archived job with what
// its last watcher saw.
func TestArchivedJobsAreListedAndDescribed(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 2, 2)
		id := w.submit(2, 1)
		last := w.wait(id)
		time.Sleep(time.Second)
		for turn := range 2 {
			w.elect(turn)
			time.Sleep(time.Second)
			jobs, err := w.leader().Jobs(w.ctx, true)
			if err != nil || len(jobs) != 1 || jobs[0].JobId != id || jobs[0].MapsDone != 2 || jobs[0].ReducesDone != 1 || jobs[0].OutputDir != last.OutputDir || jobs[0].User != last.User {
				t.Errorf("listed as %v, %v", jobs, err)
			}
			s, err := w.leader().Job(w.ctx, id, true)
			if err != nil || len(s.Tasks) != 3 || len(s.Counters) != len(last.Counters) {
				t.Errorf("described as %v, %v", s, err)
			}
		}
		if err := w.leader().SetPriority(w.ctx, id, 1); err != nil && !errors.Is(err, cluster.ErrRefused) {
			t.Errorf("the priority of an archived job: %v", err)
		}
	})
}
