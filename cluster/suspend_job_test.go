package cluster

import (
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
)

// busy returns a job on a machine of four slots of a kind, where two maps and a reduce run,
// and a map waits.
func busy(t *testing.T) (*State, *Job) {
	t.Helper()
	s := New("1")
	job := submit(3, 1)
	mustApply(t, s, JoinMachine{Name: "n", Slots: Slots{4, 4}}, job)
	loadSplits(s)
	mustApply(t, s, StartJob{job1})
	for n := range 2 {
		mustApply(t, s, StartAttempt{Task: mapTask(n), Machine: "n", Range: whole})
	}
	mustApply(t, s, StartAttempt{Task: TaskID{job1, "r", 0}, Machine: "n"})
	return s, s.jobs[0]
}

func TestASuspendedJobKeepsItsWorkAndGetsNoSlots(t *testing.T) {
	for name, tt := range map[string]struct {
		command SuspendJob
		want    string // states of active attempts: preempting, splitting, suspended
	}{
		"by splits":      {SuspendJob{Job: job1, Split: true}, "split split checkpoint"},
		"by checkpoints": {SuspendJob{Job: job1}, "checkpoint checkpoint checkpoint"},
		"suspend":        {SuspendJob{Job: job1, Split: true, PreferSuspend: true}, "suspend suspend suspend"},
	} {
		t.Run(name, func(t *testing.T) {
			s, j := busy(t)
			mustApply(t, s, tt.command)
			if got := orders(j); got != tt.want {
				t.Errorf("attempts are asked for %q, want %q", got, tt.want)
			}
			maps := j.Stages[0]
			if j.Ready(maps) || maps.Waiting() != 0 || len(maps.Suspended()) != 0 || maps.ToStart() != 1 {
				t.Errorf("ready: %v, %d wait, %d are suspended, %d are to start", j.Ready(maps), maps.Waiting(), len(maps.Suspended()), maps.ToStart())
			}
			wantRefused(t, s, "job is not at that point", StartAttempt{Task: mapTask(2), Machine: "n", Range: whole})
			wantRefused(t, s, "already", tt.command)
			again := restored(t, encoded(t, s))
			if dump(again) != dump(s) {
				t.Error("a snapshot gives another state")
			}
			mustApply(t, s, ResumeJob{job1})
			wantRefused(t, s, "not suspended", ResumeJob{job1})
			if !j.Ready(maps) || maps.Waiting() != 1 || len(maps.Suspended()) != maps.SuspendedCount() {
				t.Errorf("after it: ready: %v, %d wait, %d of %d are suspended", j.Ready(maps), maps.Waiting(), len(maps.Suspended()), maps.SuspendedCount())
			}
		})
	}
}

// orders lists the orders to active attempts of a job.
func orders(j *Job) (text string) {
	for _, a := range j.Attempts() {
		if !a.Active() {
			continue
		}
		word := "nothing"
		switch {
		case a.Suspended():
			word = "suspend"
		case a.Splitting():
			word = "split"
		case a.Preempting():
			word = "checkpoint"
		}
		if text != "" {
			text += " "
		}
		text += word
	}
	return text
}

func TestSuspendedAttemptsOfASuspendedJobAreNotResumed(t *testing.T) {
	s, j := busy(t)
	mustApply(t, s, PreemptAttempt{Attempt: attemptAt(mapTask(0), 0), Mode: preempt.Suspend}, SuspendJob{Job: job1})
	wantRefused(t, s, "is suspended", ResumeAttempt{Attempt: attemptAt(mapTask(0), 0)})
	mustApply(t, s, ResumeJob{job1}, ResumeAttempt{Attempt: attemptAt(mapTask(0), 0)})
	if got := orders(j); got != "nothing checkpoint checkpoint" {
		t.Errorf("attempts are asked for %q", got)
	}
}

// TestASuspensionEndsWithItsAttempt kills an attempt in its second suspension and finishes one in its
// first. A third one resumes. The time that they were suspended ends when they do.
func TestASuspensionEndsWithItsAttempt(t *testing.T) {
	s, _ := busy(t)
	at := func(at int64, c Command) {
		t.Helper()
		if _, err := s.Apply(Entry{At: at, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	killed, finished, resumed := attemptAt(mapTask(0), 0), attemptAt(mapTask(1), 0), attemptAt(TaskID{job1, "r", 0}, 0)
	at(10, PreemptAttempt{Attempt: killed, Mode: preempt.Suspend})
	at(15, ResumeAttempt{Attempt: killed})
	at(20, PreemptAttempt{Attempt: killed, Mode: preempt.Suspend})
	at(20, PreemptAttempt{Attempt: finished, Mode: preempt.Suspend})
	at(20, PreemptAttempt{Attempt: resumed, Mode: preempt.Suspend})
	at(22, KillAttempt{Attempt: killed, Cause: "enough"})
	at(29, FinishAttempt{Attempt: finished})
	at(50, ResumeAttempt{Attempt: resumed})
	at(60, PreemptAttempt{Attempt: resumed, Mode: preempt.Kill})
	for id, want := range map[AttemptID]int64{killed: 7, finished: 9, resumed: 30} {
		p, err := s.attempt(id)
		must.Do(t, err)
		if got := p.attempt.SuspendedUntilEnd(); got != want {
			t.Errorf("%v was suspended for %d ms, want %d", id, got, want)
		}
	}
}

func TestASuspendedJobIsKilledOrEnds(t *testing.T) {
	s, j := busy(t)
	mustApply(t, s, SuspendJob{Job: job1}, KillJob{job1, "enough"})
	if j.Suspended || j.State != JobAborting {
		t.Errorf("the job is %v, suspended: %v", j.State, j.Suspended)
	}
	wantRefused(t, s, "is ABORTING", SuspendJob{Job: job1})
}

// TestAGangOfASuspendedJob checkpoints a gang as a whole. If its job rules out checkpoints
// for one of its stages, the gang is suspended or continues.
func TestAGangOfASuspendedJob(t *testing.T) {
	for disallowed, want := range map[preempt.ModeSet]string{0: "checkpoint checkpoint", preempt.SetOf(preempt.Checkpoint): "suspend suspend", preempt.SetOf(preempt.Suspend, preempt.Checkpoint): "nothing nothing"} {
		s := New("1")
		spec := submit(0, 0)
		spec.Spec.Graph, spec.Spec.DisallowedModes = gangGraph(1), []preempt.ModeSet{0, disallowed, 0}
		mustApply(t, s, JoinMachine{Name: "n0", Slots: Slots{4, 4}}, spec)
		loadSplits(s)
		mustApply(t, s, StartJob{job1})
		j := s.jobs[0]
		mustApply(t, s, bundleStart(j, 0, 0, "n0"), SuspendJob{Job: job1, Split: true})
		if got := orders(j); got != want {
			t.Errorf("disallowed %b: attempts are asked for %q, want %q", disallowed, got, want)
		}
		if j.SuspendedBundles(j.Bundles[0]) != nil {
			t.Errorf("disallowed %b: a gang of a suspended job wants its slots", disallowed)
		}
		if err := s.CheckInvariants(); err != nil {
			t.Error(err)
		}
	}
}

// TestSuspendedAttemptsOnADrainedMachine drains the machine of a job that is suspended in memory. Its attempts do not
// run on: those that can save their work do so, and the others wait until the job resumes.
func TestSuspendedAttemptsOnADrainedMachine(t *testing.T) {
	for _, disallowed := range []preempt.ModeSet{0, preempt.SetOf(preempt.Split, preempt.Checkpoint)} {
		s := New("1")
		spec := submit(1, 0)
		spec.Spec.DisallowedModes = []preempt.ModeSet{disallowed}
		a := attemptAt(mapTask(0), 0)
		apply(t, s, JoinMachine{Name: "n", Slots: Slots{1, 1}}, JoinMachine{Name: "n2", Slots: Slots{1, 1}}, spec, StartJob{job1},
			StartAttempt{Task: a.Task, Machine: "n"}, SuspendJob{Job: job1, PreferSuspend: true}, DrainMachine{Name: "n"})
		want := AttemptPreempting
		if disallowed != 0 {
			want = AttemptSuspended
		}
		if _, _, got, _ := s.View().Attempt(a); got.State != want {
			t.Errorf("modes %v are disallowed: the attempt is %v, want %v", disallowed, got.State, want)
		}
	}
}

func TestADrainedMachine(t *testing.T) {
	s, j := busy(t)
	wantRefused(t, s, "no other tasknode takes tasks", DrainMachine{Name: "n"})
	mustApply(t, s, JoinMachine{Name: "n2", Slots: Slots{1, 1}}, PreemptAttempt{Attempt: attemptAt(mapTask(1), 0), Mode: preempt.Suspend})
	mustApply(t, s, DrainMachine{Name: "n", Cause: "it goes"})
	if got := orders(j); got != "split split checkpoint" {
		t.Errorf("attempts are asked for %q", got)
	}
	m := s.View().Machine("n")
	if !m.Excluded || !m.Draining || m.Used != (Slots{2, 1}) || m.Free(MapSlot) > 0 {
		t.Errorf("the machine is %+v", m)
	}
	if again := restored(t, encoded(t, s)); dump(again) != dump(s) {
		t.Error("a snapshot gives another state")
	}
	half := dag.Range{End: dag.Position{Offset: 40}}
	mustApply(t, s, SplitTask{attemptAt(mapTask(0), 0), half.End}, FinishAttempt{Attempt: attemptAt(mapTask(0), 0), Range: half})
	wantRefused(t, s, "no other tasknode", DrainMachine{Name: "n2"})
	mustApply(t, s, AdmitMachine{Name: "n"})
	if m.Excluded || m.Draining || m.Free(MapSlot) == 0 {
		t.Errorf("taken back, the machine is %+v", m)
	}
	mustApply(t, s, ExpireMachine{Name: "n", Epoch: 1})
	wantRefused(t, s, "is lost", DrainMachine{Name: "n"})
}
