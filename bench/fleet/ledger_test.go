package fleet

import (
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
)

const jobID = "job_1700000000000_0001"

// attemptOf returns an attempt at the only task of the job.
func attemptOf(t *testing.T, n string) cluster.AttemptID {
	t.Helper()
	id, err := cluster.ParseAttemptID("attempt_1700000000000_0001_m_000000_" + n)
	must.Do(t, err)
	return id
}

// TestLedger checks that the ledger accepts attempts that run again for a cause, and no
// others.
func TestLedger(t *testing.T) {
	first, second, third := attemptOf(t, "0"), attemptOf(t, "1"), attemptOf(t, "2")
	for name, c := range map[string]struct {
		play func(l *Ledger)
		want string // part of the violation, "" for none
	}{
		"one attempt": {func(l *Ledger) { l.started(first, "f1"); l.finished(first) }, ""},
		"a failure":   {func(l *Ledger) { l.started(first, "f1"); l.excuse(first); l.started(second, "f2"); l.finished(second) }, ""},
		"a lost output": {func(l *Ledger) {
			l.started(first, "f1")
			l.finished(first)
			l.excuse(first)
			l.started(second, "f2")
			l.finished(second)
		}, ""},
		"an order on its way": {func(l *Ledger) { l.machineLost(); l.started(second, "f2"); l.finished(second) }, ""},
		"no cause":            {func(l *Ledger) { l.started(first, "f1"); l.started(second, "f2"); l.finished(second) }, "nothing happened to"},
		"two winners": {func(l *Ledger) {
			l.started(first, "f1")
			l.started(second, "f2")
			l.finished(first)
			l.finished(second)
		}, "nothing happened to"},
		"an output that is back for a while": {func(l *Ledger) {
			l.started(first, "f1")
			l.finished(first)
			l.excuse(first)
			l.started(second, "f2")
			l.killed(second)
			l.started(third, "f3")
			l.finished(third)
		}, ""},
		"a kill without a cause": {func(l *Ledger) {
			l.started(first, "f1")
			l.excuse(first)
			l.started(second, "f2")
			l.killed(second)
			l.started(third, "f3")
			l.finished(third)
		}, "nothing happened to"},
		"an attempt from nowhere": {func(l *Ledger) { l.started(second, "f2"); l.finished(second) }, "none was lost"},
		"the same start twice":    {func(l *Ledger) { l.started(first, "f1"); l.started(first, "f1"); l.finished(first) }, "on f1 and on f1"},
		"an unfinished task":      {func(l *Ledger) { l.started(first, "f1") }, "finished 0"},
		"a late cause":            {func(l *Ledger) { l.started(first, "f1"); l.started(second, "f2"); l.excuse(first); l.finished(second) }, ""},
		"a split":                 {func(l *Ledger) { l.started(first, "f1"); l.finished(first); l.addTasks(jobID, 1) }, "with 2 tasks"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLedger()
			l.addTasks(jobID, 1)
			c.play(l)
			l.JobEnded(jobID, true)
			got := strings.Join(l.Violations(), "; ")
			if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
				t.Errorf("violations %q, want %q", got, c.want)
			}
		})
	}
}
