package live

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/docs/apidoc"
)

// TestRecoveredWaitsForAllTasks reads the losses of a tasknode while its tasks recover.
func TestRecoveredWaitsForAllTasks(t *testing.T) {
	const job, attempt = "job_1_0001", "attempt_1_0001_m_000000_0"
	loss := apidoc.Loss{Time: 1000, Tasks: []apidoc.LostTask{
		{Attempt: "attempt_1_0002_m_000000_0", State: "WAITING"}, {Attempt: attempt, Output: true, State: "WAITING"},
		{Attempt: attempt, State: "STARTED", WaitMillis: 700, Place: "node"}, {Attempt: attempt, State: "STARTED", WaitMillis: 900, Place: "other"},
		{Attempt: attempt, State: "STARTED", WaitMillis: 50, Place: "any"},
	}}
	waiting := loss
	waiting.Tasks = append(slices.Clone(loss.Tasks), apidoc.LostTask{Attempt: attempt, State: "WAITING"})
	want := []lostTask{{wait: 700, placed: true, local: true}, {wait: 900, placed: true}, {wait: 50}}
	for name, c := range map[string]struct {
		losses []apidoc.Loss
		all    bool
	}{"none": {nil, false}, "earlier": {[]apidoc.Loss{{Time: 500}}, false}, "waiting": {[]apidoc.Loss{waiting}, false}, "over": {[]apidoc.Loss{loss, waiting}, true}} {
		lost, all := recovered(apidoc.Losses{Losses: c.losses}, job, 800)
		if all != c.all || all && !slices.Equal(lost, want) {
			t.Errorf("%s: %+v, %v", name, lost, all)
		}
	}
}
