package jobmaster_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

// withJumpingClock runs a test in which the time of day of all masters is ahead by jump.
func withJumpingClock(t *testing.T, jump *atomic.Int64, play func(w *testCluster)) {
	withCluster(t, 0, func(w *testCluster) {
		w.configure = func(c *jobmaster.Config) {
			c.Now = func() time.Time { return time.Now().Round(0).Add(time.Duration(jump.Load())) }
		}
		w.addMaster()
		w.elect(0)
		play(w)
	})
}

// TestClockOfAMasterJumps sets the time of day an hour forward and back during a job. It
// checks that no tasknode expires, no task runs again and no task waits for an hour.
func TestClockOfAMasterJumps(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		var jump atomic.Int64
		withJumpingClock(t, &jump, func(w *testCluster) {
			w.addTasknode("a", 1, 1)
			w.addTasknode("b", 1, 1)
			began := time.Now()
			id := w.submit(4, 2)
			w.sleep(1500 * time.Millisecond)
			jump.Store(int64(by))
			w.wantDone(id)
			if took := time.Since(began); took > 10*time.Second {
				w.t.Errorf("clock by %v: the job took %v", by, took)
			}
			if got := w.attempts(); got != eachOnce {
				w.t.Errorf("clock by %v: attempts were %s", by, got)
			}
		})
	}
}

// TestLeadersWithDifferentClocks lets two masters whose clocks differ by an hour lead in
// turn. It checks that no task runs again and no task waits for an hour.
func TestLeadersWithDifferentClocks(t *testing.T) {
	withCluster(t, 0, func(w *testCluster) {
		for _, ahead := range []time.Duration{0, time.Hour, -time.Hour} {
			w.configure = func(c *jobmaster.Config) {
				c.Now = func() time.Time { return time.Now().Round(0).Add(ahead) }
			}
			w.addMaster()
		}
		w.elect(0)
		w.addTasknode("a", 1, 1)
		w.addTasknode("b", 1, 1)
		began := time.Now()
		id := w.submit(4, 2)
		for _, next := range []int{1, 2, 0, 2, 1} {
			w.sleep(600 * time.Millisecond)
			w.elect(next)
		}
		w.wantDone(id)
		if took := time.Since(began); took > 15*time.Second {
			w.t.Errorf("the job took %v", took)
		}
		if got := w.attempts(); got != eachOnce {
			w.t.Errorf("attempts were %s", got)
		}
	})
}

// TestSilenceIsSeenWhateverTheClock checks that a silent tasknode expires on time,
// within a sixteenth, whatever the time of day.
func TestSilenceIsSeenWhateverTheClock(t *testing.T) {
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		var jump atomic.Int64
		withJumpingClock(t, &jump, func(w *testCluster) {
			crash := w.addTasknode("a", 1, 1)
			w.sleep(2 * time.Second)
			jump.Store(int64(by))
			w.sleep(3 * w.expiry)
			if !w.isAlive("a") {
				w.t.Errorf("clock by %v: a tasknode that speaks is given up", by)
			}
			crash()
			w.sleep(w.expiry * 8 / 10) // its last heartbeat may be a second old, and the clock fast
			if !w.isAlive("a") {
				w.t.Errorf("clock by %v: it is given up too soon", by)
			}
			w.sleep(w.expiry * 3 / 10) // or slow
			if w.isAlive("a") {
				w.t.Errorf("clock by %v: it is not given up", by)
			}
		})
	}
}

// isAlive reports whether a tasknode has not expired.
func (w *testCluster) isAlive(name string) bool {
	w.t.Helper()
	nodes, err := w.leader().Tasknodes(w.ctx)
	must.Do(w.t, err)
	for _, n := range nodes {
		if n.Name == name && !n.Lost {
			return true
		}
	}
	return false
}
