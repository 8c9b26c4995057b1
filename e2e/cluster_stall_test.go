package e2e

import (
	"cmp"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/report"
)

// TestStalledMasterRunsNothingAgain suspends the only master for longer than the expiry of
// tasknodes, while attempts run. No attempt runs again.
func TestStalledMasterRunsNothingAgain(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--tasknodes", "2")
	j := startSlowJob(t, e)
	master := e.state.Masters[0].ID
	must(t, e.cluster.Stop(t.Context(), master))
	<-time.After(13 * time.Second) // the stall itself: longer than the default expiry, 10 s
	must(t, e.cluster.Continue(t.Context(), master))
	if again := j.succeeds(t); again != 0 {
		t.Errorf("%d attempts were made again", again)
	}
}

// TestDeadTasknodeIsReplacedAtOnce kills a tasknode with an expiry of minutes. The job ends
// all the same, because the machine refuses connections.
func TestDeadTasknodeIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	e := newEngine(t, "--tasknodes", "2", "--expiry", "10m")
	j := startSlowJob(t, e)
	killed := time.Now()
	must(t, syscall.Kill(e.state.Tasknodes[0].PID, syscall.SIGKILL))
	if again := j.succeeds(t); again == 0 {
		t.Error("nothing was run again")
	}
	var second []report.Attempt
	for _, task := range e.job(j.id).Tasks {
		second = append(second, task.Attempts[1:]...)
	}
	first := slices.MinFunc(second, func(a, b report.Attempt) int { return cmp.Compare(a.StartTime, b.StartTime) })
	t.Logf("%d attempts again, the first %v after the kill", len(second), time.UnixMilli(first.StartTime).Sub(killed))
}
