package jobmaster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/jobmaster"
)

func heartbeat(machine string) *wire.Report {
	return &wire.Report{Machine: machine, Report: &wire.Report_Heartbeat_{Heartbeat: new(wire.Report_Heartbeat)}}
}

// states returns the state of every tasknode, by name.
func (w *testCluster) states() (states string) {
	w.t.Helper()
	nodes, err := w.leader().Tasknodes(w.ctx)
	must.Do(w.t, err)
	for _, n := range nodes {
		states += fmt.Sprintf("%s %s ", n.Name, n.State)
	}
	return states
}

// TestStalledLoopLosesNoTasknode stops the loop for longer than the expiry while heartbeats
// arrive. No tasknode is lost, except one that is silent for a full expiry after the stall.
func TestStalledLoopLosesNoTasknode(t *testing.T) {
	stall := func(m *jobmaster.Master) {
		m.Post(func() { pass(15 * time.Second) })
		pass(15*time.Second + time.Millisecond)
	}
	for name, c := range map[string]struct{ before, after time.Duration }{
		"long lead": {5 * time.Second, 0}, "stall at once": {0, 0}, "two stalls": {3 * time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			withCluster(t, 1, func(w *testCluster) {
				w.elect(0)
				w.addTasknode("a", 1, 1)
				w.addTasknode("b", 1, 1)
				crash := w.addTasknode("c", 1, 1)
				w.sleep(time.Second + c.before)
				crash()
				stall(w.leader())
				if c.after > 0 {
					w.sleep(c.after)
					stall(w.leader())
				}
				if got, want := w.states(), "a RUNNING b RUNNING c SILENT "; got != want {
					t.Errorf("after the stall: %s, want %s", got, want)
				}
				w.sleep(9900 * time.Millisecond)
				if got, want := w.states(), "a RUNNING b RUNNING c SILENT "; got != want {
					t.Errorf("before a full expiry: %s, want %s", got, want)
				}
				w.sleep(200 * time.Millisecond)
				if got, want := w.states(), "a RUNNING b RUNNING c LOST "; got != want {
					t.Errorf("after a full expiry: %s, want %s", got, want)
				}
			})
		})
	}
}

// TestStalledNewLeaderLosesNoTasknode stops the loop of a new leader before its first review.
func TestStalledNewLeaderLosesNoTasknode(t *testing.T) {
	withCluster(t, 2, func(w *testCluster) {
		w.elect(0)
		w.addTasknode("a", 1, 1)
		w.addTasknode("b", 1, 1)
		w.sleep(5 * time.Second)
		w.elect(1)
		w.masters[1].Post(func() {}) // dropped if it arrives before the election
		w.sleep(time.Millisecond)
		w.masters[1].Post(func() { pass(15 * time.Second) })
		w.sleep(15*time.Second + 2*time.Millisecond)
		if got, want := w.states(), "a RUNNING b RUNNING "; got != want {
			t.Errorf("after the stall: %s, want %s", got, want)
		}
	})
}

// TestHeartbeatsInTheInboxCount stops the loop for less than a stall, just before a tasknode
// would expire: its heartbeat waits in the inbox and counts.
func TestHeartbeatsInTheInboxCount(t *testing.T) {
	withCluster(t, 1, func(w *testCluster) {
		w.elect(0)
		a := w.addFake("a", "", 1, 0)
		w.sleep(9 * time.Second)
		w.leader().Post(func() { pass(2 * time.Second) })
		w.sleep(time.Second)
		w.leader().Post(func() {}) // the inbox has more than the heartbeat
		a.own.Report(heartbeat("a"))
		w.sleep(2 * time.Second)
		if got, want := w.states(), "a RUNNING "; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}
