package cluster

import (
	"testing"

	"github.com/hammr/hammr/preempt"
)

// TestPreemptedAttemptsDoNotCountAsKilled checks that preempted attempts do not count as killed.
func TestPreemptedAttemptsDoNotCountAsKilled(t *testing.T) {
	first := attemptAt(mapTask(0), 0)
	for name, tt := range map[string]struct {
		ends                   []Command
		killed, failed, orders int
	}{
		"killed":                  {[]Command{KillAttempt{Attempt: first}, ExitAttempt{Attempt: first}}, 1, 0, 0},
		"preempted by kill":       {[]Command{PreemptAttempt{Attempt: first, Mode: preempt.Kill}, ExitAttempt{Attempt: first}}, 0, 0, 1},
		"checkpointed":            {[]Command{PreemptAttempt{Attempt: first, Mode: preempt.Checkpoint}, CheckpointAttempt{Attempt: first}}, 0, 0, 1},
		"suspended and killed":    {[]Command{PreemptAttempt{Attempt: first, Mode: preempt.Suspend}, KillAttempt{Attempt: first}, ExitAttempt{Attempt: first}}, 1, 0, 1},
		"to pause, and lost":      {[]Command{PreemptAttempt{Attempt: first, Mode: preempt.Checkpoint}, ExpireMachine{Name: "a", Epoch: 1}}, 1, 0, 1},
		"failed":                  {[]Command{FailAttempt{Attempt: first, Failure: Failure{Cause: "bad"}}}, 0, 1, 0},
		"of a job that is killed": {[]Command{KillJob{Job: job1, Cause: "test"}}, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := New("1")
			apply(t, s, joinOf("a", "1"), submit(2, 0), StartJob{job1}, StartAttempt{Task: first.Task, Machine: "a"})
			apply(t, s, tt.ends...)
			st := s.View().Job(job1).Stages[0]
			if st.Killed != tt.killed || st.Failed != tt.failed || st.Preemption.Requested != tt.orders {
				t.Errorf("%d killed, %d failed, %d ordered to give up slots; want %d, %d, %d", st.Killed, st.Failed, st.Preemption.Requested, tt.killed, tt.failed, tt.orders)
			}
		})
	}
}
