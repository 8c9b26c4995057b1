package drill

import (
	"testing"

	"github.com/hammr/hammr/chaos"
	"github.com/hammr/hammr/internal/conf/counter"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// TestReachedPaths counts the paths of recovery that a status shows.
func TestReachedPaths(t *testing.T) {
	attempt := func(state wire.AttemptState, cause string) *wire.TaskStatus_Attempt {
		return &wire.TaskStatus_Attempt{State: state, Cause: cause, Machine: "n1"}
	}
	const won, failed, killed, preempted = wire.AttemptState_ATTEMPT_SUCCEEDED, wire.AttemptState_ATTEMPT_FAILED, wire.AttemptState_ATTEMPT_KILLED, wire.AttemptState_ATTEMPT_PREEMPTED
	s := &wire.JobStatus{
		Tasks: []*wire.TaskStatus{
			{Attempts: []*wire.TaskStatus_Attempt{attempt(killed, "machine n1 is lost"), attempt(killed, "the tasknode of n1 has restarted"), attempt(failed, "signal: killed"), attempt(won, "")}},
			{Attempts: []*wire.TaskStatus_Attempt{attempt(won, ""), attempt(won, "")}},
			{Attempts: []*wire.TaskStatus_Attempt{attempt(preempted, "preempted by the user"), attempt(won, ""), attempt(killed, "another attempt has won")}},
			{Attempts: []*wire.TaskStatus_Attempt{attempt(failed, "the last one")}},
		},
		Counters: []*taskproc.Counter{{Group: counter.FailedShuffles.Group, Name: counter.FailedShuffles.Name, Value: 3}},
	}
	got := make(chaos.Reached)
	countReached(got, s)
	if want := "failed-attempt=1+lost-attempt=2+lost-output=1+repeated-fetch=3+resumed-work=1"; got.String() != want {
		t.Errorf("got  %v\nwant %s", got, want)
	}
	if none := make(chaos.Reached); none.String() != "" {
		t.Errorf("%v", none)
	}
}
