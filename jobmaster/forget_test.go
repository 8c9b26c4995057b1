package jobmaster_test

import (
	"strings"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/testing/must"
)

// names lists the tasknodes that the leader knows, with their states.
func (w *testCluster) names() string {
	nodes, err := w.leader().Tasknodes(w.ctx)
	must.Do(w.t, err)
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name+" "+n.State)
	}
	return strings.Join(names, ", ")
}

// withTasknodeForget runs a test whose two masters forget lost tasknodes after an hour.
func withTasknodeForget(t *testing.T, play func(w *testCluster)) {
	withCluster(t, 0, func(w *testCluster) {
		w.forget = time.Hour
		w.addMaster()
		w.addMaster()
		w.elect(0)
		play(w)
	})
}

// TestLostTasknodesAreForgotten loses three tasknodes. One stays lost, one is excluded, and
// one attaches again after it was forgotten.
func TestLostTasknodesAreForgotten(t *testing.T) {
	withTasknodeForget(t, func(w *testCluster) {
		w.addTasknode("stays", 1, 1)
		for _, name := range []string{"excluded", "gone", "returns"} {
			crash := w.addTasknode(name, 1, 1)
			w.sleep(time.Second)
			if name == "excluded" {
				must.Do(w.t, w.leader().AdmitTasknode(w.ctx, name, true))
			}
			crash()
		}
		w.sleep(30 * time.Minute)
		if got := w.names(); got != "excluded DECOMMISSIONED, gone LOST, returns LOST, stays RUNNING" {
			w.t.Errorf("after half an hour the tasknodes are %s", got)
		}
		w.elect(1)
		w.sleep(time.Hour)
		if got := w.names(); got != "excluded DECOMMISSIONED, stays RUNNING" {
			w.t.Errorf("after longer than an hour the tasknodes are %s", got)
		}
		must.Do(w.t, w.leader().AdmitTasknode(w.ctx, "excluded", false))
		w.addTasknode("returns", 1, 1)
		w.sleep(time.Second)
		if got := w.names(); got != "returns RUNNING, stays RUNNING" {
			w.t.Errorf("at last the tasknodes are %s", got)
		}
		w.wantSucceeded(w.submit(4, 1))
	})
}

// TestReferredTasknodeIsNotForgotten loses a tasknode with outputs of a job. The job runs
// longer than tasknodes are remembered.
func TestReferredTasknodeIsNotForgotten(t *testing.T) {
	withTasknodeForget(t, func(w *testCluster) {
		crash := w.addTasknode("a", 2, 0)
		id := w.submit(4, 0)
		w.sleep(1500 * time.Millisecond) // two maps have finished, two run
		crash()
		w.sleep(2 * time.Hour)
		if got := w.names(); got != "a LOST" {
			w.t.Errorf("while the job runs the tasknodes are %s", got)
		}
		w.addTasknode("b", 2, 0)
		w.wantSucceeded(id)
		w.sleep(time.Hour)
		if got := w.names(); got != "b RUNNING" {
			w.t.Errorf("after the job the tasknodes are %s", got)
		}
		s, err := w.leader().Job(w.ctx, id, true)
		if err != nil || s.Tasks[0].Attempts[0].Machine != "a" {
			w.t.Errorf("the job knows no more where its first task ran: %v, %v", s, err)
		}
	})
}
