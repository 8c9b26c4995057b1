package cluster

import (
	"strings"
	"testing"
)

// down applies a failure by an outage at a time and starts the task again after the pause.
func down(t *testing.T, s *State, number int, at int64) *Job {
	t.Helper()
	a := AttemptID{Task: mapTask(0), Number: number}
	if _, err := s.Apply(Entry{At: at, Command: FailAttempt{Attempt: a, StorageDown: true, Failure: Failure{Cause: "no answer"}}}); err != nil {
		t.Fatal(err)
	}
	return s.jobs[0]
}

func outageJob(t *testing.T, limit int64) *State {
	t.Helper()
	s := New("1")
	job := submit(1, 0)
	job.Spec.OutageLimitMillis = limit
	mustApply(t, s, JoinMachine{Name: "n", Slots: Slots{1, 1}}, job)
	loadSplits(s)
	mustApply(t, s, StartJob{job1}, StartAttempt{Task: mapTask(0), Machine: "n", Range: whole})
	return s
}

// resumeAt ends the pause and starts the map again.
func resumeAt(t *testing.T, s *State, at int64) {
	t.Helper()
	for _, c := range []Command{EndOutagePause{Job: job1}, StartAttempt{Task: mapTask(0), Machine: "n", Range: whole}} {
		if _, err := s.Apply(Entry{At: at, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnOutagePausesTheJobAndCostsNoTry(t *testing.T) {
	s := outageJob(t, 3_600_000)
	at := int64(1000)
	for n, pause := range []int64{1, 2, 4, 8, 16, 30, 30} {
		j := down(t, s, n, at)
		if j.State != JobRunning || j.Stages[0].Tasks[0].Charged != 0 || j.Outage.PausedUntil != at+1000*pause {
			t.Fatalf("after failure %d: %v, charged %d, paused from %d until %d", n, j.State, j.Stages[0].Tasks[0].Charged, at, j.Outage.PausedUntil)
		}
		if j.Ready(j.Stages[0]) || j.Stages[0].Waiting() != 0 {
			t.Error("tasks of a paused job may start")
		}
		again := restored(t, encoded(t, s))
		if dump(again) != dump(s) {
			t.Error("a snapshot gives another state")
		}
		if _, err := s.Apply(Entry{At: at + 1000*pause - 1, Command: EndOutagePause{Job: job1}}); err == nil {
			t.Error("the pause ended early")
		}
		at += 1000 * pause
		resumeAt(t, s, at)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

func TestAnOutageLongerThanItsLimitEndsTheJob(t *testing.T) {
	s := outageJob(t, 60_000)
	down(t, s, 0, 1000)
	resumeAt(t, s, 2000)
	if j := down(t, s, 1, 61_000); j.State != JobAborting || !strings.Contains(j.Cause, "hammr.hdfs.outage.limit") {
		t.Errorf("the job is %v: %s", j.State, j.Cause)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}

// TestOutagesAreCountedOneByOne checks that the limit does not count the time between two
// outages, and that a job without a limit charges each failure, as earlier versions do.
func TestOutagesAreCountedOneByOne(t *testing.T) {
	s := outageJob(t, 60_000)
	down(t, s, 0, 1000)
	resumeAt(t, s, 2000)
	if j := down(t, s, 1, 1000+outageGap+1); j.State != JobRunning || j.Outage.Pause != minOutagePause {
		t.Errorf("the job is %v: %s; its outage %+v", j.State, j.Cause, j.Outage)
	}
	s = outageJob(t, 0)
	if j := down(t, s, 0, 1000); j.Stages[0].Tasks[0].Charged != 1 || j.Outage != (Outage{}) {
		t.Errorf("charged %d, outage %+v", j.Stages[0].Tasks[0].Charged, j.Outage)
	}
}

func TestOutputDirectoriesOfUnfinishedJobs(t *testing.T) {
	s := New("1")
	to := func(key string) SubmitJob {
		job := submit(1, 0)
		job.Spec.OutputDir, job.Spec.OutputKey = key, key
		return job
	}
	mustApply(t, s, to("hdfs://nn/out/a"), to("hdfs://nn/out/b"), to(""), to(""))
	for _, state := range []*State{s, restored(t, encoded(t, s))} {
		for _, refused := range []string{"hdfs://nn/out/a", "hdfs://nn/out", "hdfs://nn/out/a/x/y", "hdfs://nn"} {
			wantRefused(t, state, "job_1_0001 writes to hdfs://nn/out/a", to(refused))
		}
		mustApply(t, state, to("hdfs://nn/out/aa"), to("hdfs://nn/ou"), to("hdfs://other/out/a"))
		if err := state.CheckInvariants(); err != nil {
			t.Error(err)
		}
	}
	mustApply(t, s, KillJob{Job: job1, Cause: "test"}, CloseJob{Job: job1}, to("hdfs://nn/out/a/x"))
	wantRefused(t, s, "job_1_0002", to("hdfs://nn/out"))
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}
