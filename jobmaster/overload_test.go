package jobmaster_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/storage/fault"
)

// TestRequestsBeyondTheLimitAreRefused asks more than the loop may have to answer while it is
// busy. The excess is refused at once; tasknodes still attach and report.
func TestRequestsBeyondTheLimitAreRefused(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(cfg *jobmaster.Config) { cfg.MaxRequests, cfg.MaxWatchers = 3, 2 }
		w.addMaster()
		w.elect(0)
		a := w.addFake("a", "", 1, 0)
		m := w.leader()
		m.Post(func() { time.Sleep(3 * time.Second) })
		synctest.Wait()
		var mu sync.Mutex
		var asking sync.WaitGroup
		answered, refused, began := 0, 0, time.Now()
		for range 5 {
			asking.Go(func() {
				_, err := m.Jobs(w.ctx, true)
				mu.Lock()
				defer mu.Unlock()
				var overload *jobmaster.OverloadError
				switch took := time.Since(began); {
				case err == nil && took == 3*time.Second:
					answered++
				case errors.As(err, &overload) && overload.RetryAfter > 0 && took == 0:
					refused++
				default:
					t.Errorf("%v after %v", err, took)
				}
			})
		}
		a.own.Report(heartbeat("a"))
		w.addFake("b", "", 1, 0)
		asking.Wait()
		if answered != 3 || refused != 2 {
			t.Errorf("%d answered, %d refused", answered, refused)
		}
		if got := w.states(); got != "a RUNNING b RUNNING " {
			t.Error(got)
		}
	})
}

// TestWatchersBeyondTheLimitAreRefused watches a job more often than the limit allows. When a
// watcher ends, another one may watch.
func TestWatchersBeyondTheLimitAreRefused(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(cfg *jobmaster.Config) { cfg.MaxWatchers = 2 }
		w.addMaster()
		w.elect(0)
		w.addTasknode("a", 1, 1)
		id := w.submit(1, 1)
		var watching sync.WaitGroup
		for range 2 {
			watching.Go(func() {
				if _, err := w.leader().Watch(w.ctx, id, nil); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		var overload *jobmaster.OverloadError
		if _, err := w.leader().Watch(w.ctx, id, nil); !errors.As(err, &overload) {
			t.Errorf("the third watcher gets %v", err)
		}
		watching.Wait()
		w.wantSucceeded(id)
	})
}

// TestLongReportsWaitInTheirSession sends reports that are long: few of them may wait.
func TestLongReportsWaitInTheirSession(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "", 1, 0)
		w.leader().Post(func() { time.Sleep(time.Second) })
		synctest.Wait()
		began := time.Now()
		long := heartbeat("a")
		long.GetHeartbeat().Unhealthy = strings.Repeat("x", 5<<20)
		for n := range 4 {
			a.own.Report(long)
			if took := time.Since(began); (took != 0) != (n == 3) {
				t.Errorf("%d reports took %v", n+1, took)
			}
		}
		a.own.Report(&wire.Report{AttemptId: strings.Repeat("x", 60<<20)}) // longer than all tokens
	})
}

// TestWatchersShareTheLastStatus lets many clients watch a job to its end. The status with the
// tasks is made once for all of them. No history is written, because a watcher that asks after
// that would read it.
func TestWatchersShareTheLastStatus(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(c *jobmaster.Config) { c.HistoryDir = "" }
		w.elect(w.addMaster())
		w.addTasknode("a", 1, 1)
		id := w.submit(2, 1)
		var watching sync.WaitGroup
		last := make([]*wire.JobStatus, 20)
		for i := range last {
			watching.Go(func() {
				var err error
				if last[i], err = w.leader().Watch(w.ctx, id, nil); err != nil {
					t.Error(err)
				}
			})
		}
		watching.Wait()
		if len(last[0].GetTasks()) != 3 {
			t.Errorf("the last status is %v", last[0])
		}
		for i, s := range last {
			if s != last[0] {
				t.Errorf("watcher %d has a status of its own", i)
			}
		}
	})
}

// TestLargeAnswersWait asks for the histories of more jobs than are read at the same time. All
// are answered.
func TestLargeAnswersWait(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(cfg *jobmaster.Config) { cfg.KeepJobs = 100 }
		var reading, most atomic.Int32
		w.fs = fault.New(w.fs, fault.Options{Ask: func(op fault.Op, name string) (time.Duration, error) {
			if op == fault.Open && strings.HasPrefix(name, "/history/") {
				most.Store(max(most.Load(), reading.Add(1)))
				pass(time.Second)
				reading.Add(-1)
			}
			return 0, nil
		}})
		w.addMaster()
		w.elect(0)
		w.addTasknode("a", 1, 1)
		var asking sync.WaitGroup
		for _, id := range w.runJobs(10, 1) {
			asking.Go(func() {
				if s, err := w.leader().Job(w.ctx, id, true); err != nil || len(s.Tasks) != 1 {
					t.Errorf("%s: %v, %v", id, s, err)
				}
			})
		}
		asking.Wait()
		if most.Load() != 4 {
			t.Errorf("%d histories are read at the same time", most.Load())
		}
	})
}

// TestReportsWaitInTheirSession sends more reports than may wait in the inbox: the sender
// waits until the loop has handled some.
func TestReportsWaitInTheirSession(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "", 1, 0)
		w.leader().Post(func() { time.Sleep(time.Second) })
		synctest.Wait()
		began := time.Now()
		for range 1000 {
			a.own.Report(heartbeat("a"))
		}
		if took := time.Since(began); took != 0 {
			t.Errorf("1000 reports took %v", took)
		}
		a.own.Report(heartbeat("a"))
		if took := time.Since(began); took != time.Second {
			t.Errorf("one more took %v", took)
		}
	})
}

// TestWatchersGetFewStatuses runs attempts that start and end every 20 ms. Watchers get five
// statuses a second, and the last one at once.
func TestWatchersGetFewStatuses(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		id := w.submit(100, 0)
		began, seen := time.Now(), 0
		var watching sync.WaitGroup
		watching.Go(func() {
			last, err := w.leader().Watch(w.ctx, id, func(*wire.JobStatus) { seen++ })
			if err != nil {
				t.Error(err)
			}
			if late := time.Since(time.UnixMilli(last.GetFinishTime())); late > 10*time.Millisecond {
				t.Errorf("the last status comes %v after the end", late)
			}
		})
		for n := range 50 {
			w.addTasknode(fmt.Sprint("n", n), 1, 0)
			time.Sleep(20 * time.Millisecond)
		}
		watching.Wait()
		if took := time.Since(began); seen > int(took/(200*time.Millisecond))+3 {
			t.Errorf("%d statuses in %v", seen, took)
		}
	})
}
