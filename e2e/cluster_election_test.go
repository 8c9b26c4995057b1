//go:build soak

package e2e

import (
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/localcluster"
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
		must(t, syscall.Kill(leader.PID, syscall.SIGSTOP))
		e.wantSuccessor("stopped", leader, stoppedLimit)
		must(t, syscall.Kill(leader.PID, syscall.SIGCONT))
		waitUntil(t, "the stopped one follows", func() bool { return e.figure(leader, "hammr_leads") == "0" })
	}
	leader = e.awaitLeader("")
	must(t, syscall.Kill(leader.PID, syscall.SIGKILL))
	e.wantSuccessor("killed", leader, killedLimit)
}

// keepBusy starts a process that uses as much of a core as it gets, until the test ends.
func keepBusy(t *testing.T) {
	t.Helper()
	cmd := exec.Command("sh", "-c", "while :; do :; done")
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	inLastingThread(func() { must(t, cmd.Start()) })
	t.Cleanup(func() {
		must(t, cmd.Process.Kill())
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

// awaitLeader waits until a master leads that is not the one with an id.
func (e *engine) awaitLeader(but string) (leader localcluster.Master) {
	e.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-tick.C {
		i := slices.IndexFunc(e.state.Masters, func(m localcluster.Master) bool {
			return m.ID != but && e.figure(m, "hammr_leads") == "1"
		})
		if i >= 0 {
			return e.state.Masters[i]
		}
	}
	e.t.Fatal("nobody leads")
	return leader
}

// figure returns a metric of a master, "" if the master does not answer.
func (e *engine) figure(m localcluster.Master, name string) string {
	client := http.Client{Timeout: 500 * time.Millisecond}
	defer client.CloseIdleConnections()
	answer, err := client.Get("http://" + m.HTTP + "/metrics")
	if err != nil {
		return ""
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+" "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
