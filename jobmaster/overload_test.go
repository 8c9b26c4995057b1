package jobmaster_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
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
