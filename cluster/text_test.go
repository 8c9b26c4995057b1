package cluster

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/hammr/hammr/preempt"
)

// TestTextsOfAJobAreBounded fails, kills, preempts and loses attempts with texts of a megabyte
// each. What the state keeps of them is bounded for each attempt and for the job.
func TestTextsOfAJobAreBounded(t *testing.T) {
	text := strings.Repeat("ä", 1<<19)
	s := New("1")
	job := submit(60, 1)
	job.Spec.MaxAttempts = [2]int{100, 100}
	mustApply(t, s, JoinMachine{Name: "n", Slots: Slots{60, 1}}, job, StartJob{job1})
	start := func(n int) AttemptID {
		task := s.View().Job(job1).Stages[0].Tasks[n]
		mustApply(t, s, StartAttempt{Task: task.ID, Machine: "n", Range: whole})
		return attemptAt(task.ID, len(task.Attempts)-1)
	}
	end := func(a AttemptID, commands ...Command) { mustApply(t, s, append(commands, ExitAttempt{Attempt: a})...) }
	f := Failure{Cause: text, Stack: text, Input: text, Log: text}
	for n := range 50 {
		for range 3 {
			a := start(n)
			end(a, FailAttempt{Attempt: a, Failure: f})
		}
		a := start(n)
		end(a, KillAttempt{a, text})
		a = start(n)
		end(a, PreemptAttempt{Attempt: a, Mode: preempt.Kill, Cause: text})
		a = start(n)
		end(a, FailAttempt{Attempt: a, Failure: f, OnMachine: true})
	}
	preempted, suspended, lost := start(50), start(51), start(52)
	mustApply(t, s, PreemptAttempt{Attempt: preempted, Mode: preempt.Checkpoint, Cause: text}, PreemptAttempt{Attempt: suspended, Mode: preempt.Suspend, Cause: text}, finished(lost), LoseOutput{lost, text})
	mustApply(t, s, SetHealth{"n", text}, KillJob{job1, text})

	j, kept, attempts := s.View().Job(job1), 0, 0
	for _, f := range j.Failures {
		kept += f.textBytes()
	}
	if len(j.Failures) != maxFailures || kept > 2*maxFailureBytes+maxFailureBytes/2 || len(j.Failures[0].Stack) < 1000 || j.Failures[99].Cause == "" {
		t.Errorf("%d failures have texts of %d bytes", len(j.Failures), kept)
	}
	for _, a := range j.Attempts() {
		attempts++
		if len(a.Cause) > maxCauseBytes || a.Cause == "" || !utf8.ValidString(a.Cause) {
			t.Errorf("%v: a cause of %d bytes", a.ID, len(a.Cause))
		}
	}
	if len(j.Cause) > maxTextBytes || len(s.View().Machine("n").Unhealthy) > maxCauseBytes {
		t.Errorf("the job has a cause of %d bytes, the machine a reason of %d", len(j.Cause), len(s.View().Machine("n").Unhealthy))
	}
	if n, most := len(encoded(t, s)), 3*maxFailureBytes+attempts*(maxCauseBytes+300)+60*500; n > most {
		t.Errorf("the snapshot of %d attempts has %d bytes, more than %d", attempts, n, most)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}
