//go:build soak

package e2e

import (
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/ops/localcluster"
	"github.com/hammr/hammr/internal/testing/must"
)

const (
	calm         = time.Minute     // how long a busy machine must keep its leader
	stoppedLimit = 3 * time.Second // limit until another master leads
	killedLimit  = 2 * time.Second
)

// TestSoakElections keeps all cores busy with four processes. For a minute the leader must
// not change. Then leaders are stopped, and one is killed, and each time another master
// leads soon.
func TestSoakElections(t *testing.T) {
	e := newEngine(t, "--masters", "3", "--tasknodes", "1")
	for range 4 {
		keepBusy(t)
	}
	leader := e.awaitLeader("")
	before := e.figure(leader, "hammr_raft_term")
	<-time.After(calm)
	if after := e.figure(e.awaitLeader(""), "hammr_raft_term"); after != before {
		t.Errorf("term %s became term %s though every master was there", before, after)
	}
	for range 5 {
		leader := e.awaitLeader("")
		must.Do(t, syscall.Kill(leader.PID, syscall.SIGSTOP))
		e.wantSuccessor("stopped", leader, stoppedLimit)
		must.Do(t, syscall.Kill(leader.PID, syscall.SIGCONT))
		waitUntil(t, "the stopped one follows", func() bool { return e.figure(leader, "hammr_leads") == "0" })
	}
	leader = e.awaitLeader("")
	must.Do(t, syscall.Kill(leader.PID, syscall.SIGKILL))
	e.wantSuccessor("killed", leader, killedLimit)
}

// keepBusy starts a process that uses as much of a core as it gets, until the test ends.
func keepBusy(t *testing.T) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	inLastingThread(func() { must.Do(t, cmd.Start()) })
	t.Cleanup(func() {
		must.Do(t, cmd.Process.Kill())
		_ = cmd.Wait() // it was killed
	})
}

// wantSuccessor waits until another master leads.
func (e *engine) wantSuccessor(what string, leader localcluster.Master, limit time.Duration) {
	e.t.Helper()
	began := time.Now()
	e.awaitLeader(leader.ID)
	took := time.Since(began)
	e.t.Logf("%s: another one leads after %.2f s", what, took.Seconds())
	if took > limit {
		e.t.Errorf("%s: another one leads after %v, not within %v", what, took, limit)
	}
}
