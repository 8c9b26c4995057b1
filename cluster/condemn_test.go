package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"pgregory.net/rapid"
)

// bomb changes a job, damages what the state knows of it, and panics.
type bomb struct {
	Attempt AttemptID
	damage  string
}

func (c bomb) subject() any { return c.Attempt }

func (c bomb) apply(tx *transition, p taskRef) error {
	m := tx.byName[p.attempt.Machine]
	switch c.damage {
	case "nothing":
	case "attempt": // its next event cannot follow this state
		p.attempt.State = AttemptWorkLost
	case "winner":
		p.task.State, p.task.Winner, p.task.Output = TaskSucceeded, p.attempt, nil
	case "indexes":
		p.stage.pending.add(len(p.stage.Tasks) + 3)
		p.stage.lostUnneeded.add(0)
		p.stage.Running, p.stage.Finished, p.job.Occupied, p.job.requiredLeft = 9, -1, -1, -1
	case "counters":
		p.task.Counts = []int64{1, 2, 3, 4, 5, 6}
	case "machine":
		if m != nil {
			m.Used[0], m.Attempts = 7, append(m.Attempts, p.attempt, p.attempt)
			tx.free = [slotKinds]numberSet{}
			delete(tx.byName, m.Name)
		}
	}
	panic("test")
}

// TestPanicCostsItsJobOnly damages a job of a random cluster in a command that panics. After
// the repair the invariants hold, the job is about to fail, all others are as they
// were, and a twin and a copy from a snapshot are in the same state.
func TestPanicCostsItsJobOnly(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, twin := New("1"), New("1")
		for _, c := range []Command{JoinMachine{Name: "n0", Slots: Slots{3, 2}}, JoinMachine{Name: "n1", Slots: Slots{3, 2}}, submit(3, 1), submit(2, 1), StartJob{job1}, StartJob{JobID{"1", 2}},
			StartAttempt{Task: mapTask(0), Machine: "n0", Range: whole}, StartAttempt{Task: mapTask(1), Machine: "n1", Range: whole}} {
			s.Apply(Entry{At: 1, Command: c})
			twin.Apply(Entry{At: 1, Command: c})
			loadSplits(s, twin)
		}
		for step := range rapid.IntRange(5, 80).Draw(t, "steps") {
			e := Entry{At: int64(step + 1), Command: drawCommand(t, s)}
			s.Apply(e)
			twin.Apply(e)
			loadSplits(s, twin)
		}
		c := bomb{
			Attempt: drawAttempt(t, s),
			damage:  rapid.SampledFrom([]string{"nothing", "attempt", "winner", "indexes", "counters", "machine"}).Draw(t, "damage"),
		}
		p, err := s.attempt(c.Attempt)
		if err != nil || p.job.State.Final() {
			t.Skip("no attempt of an unfinished job")
		}
		others := dumpOthers(s, p.job)
		e := Entry{At: 100, Command: c}
		_, err = s.ApplyContained(e, nil)
		twin.ApplyContained(e, nil)
		if !errors.Is(err, ErrInternal) || p.job.State != JobAborting {
			t.Fatalf("%v; the job is %v", err, p.job.State)
		}
		if got := dumpOthers(s, p.job); got != others {
			t.Fatalf("another job was\n%s, and is\n%s", others, got)
		}
		checkCondemned(t, s, twin)
		for step := range rapid.IntRange(0, 30).Draw(t, "steps after") {
			e := Entry{At: int64(200 + step), Command: drawCommand(t, s)}
			_, err := s.Apply(e)
			if _, twinErr := twin.Apply(e); fmt.Sprint(err) != fmt.Sprint(twinErr) {
				t.Fatalf("%v here, %v there", err, twinErr)
			}
			loadSplits(s, twin)
		}
		checkCondemned(t, s, twin)
	})
}

// checkCondemned checks the invariants of a state, and that twins are in the same state.
func checkCondemned(t *rapid.T, s, twin *State) {
	t.Helper()
	if err := s.CheckInvariants(); err != nil {
		t.Fatalf("%v\n%s", err, dump(s))
	}
	data := encoded(t, s)
	if !bytes.Equal(encoded(t, twin), data) || dump(s) != dump(twin) {
		t.Fatalf("twins differ:\n%s\n%s", dump(s), dump(twin))
	}
	if copied := restored(t, data); !bytes.Equal(encoded(t, copied), data) {
		t.Fatal("the copy is in another state")
	}
}

// dumpOthers returns everything visible of all jobs but one.
func dumpOthers(s *State, but *Job) string {
	var b strings.Builder
	for j := range s.View().Jobs() {
		if j != but {
			data, err := encoding.Marshal(j)
			fmt.Fprintf(&b, "%v %x %v\n", j.ID, data, err)
			for _, stage := range j.Stages {
				for _, task := range stage.Tasks {
					fmt.Fprintln(&b, task.ID, task.State, task.Range, task.Counts)
					for _, a := range task.Attempts {
						fmt.Fprintf(&b, "%+v\n", *a)
					}
				}
			}
		}
	}
	return b.String()
}

// TestLostMachineWithABadJobIsLostForOthers expires and restarts a machine on which one job is
// damaged. The attempts of the other job are lost all the same.
func TestLostMachineWithABadJobIsLostForOthers(t *testing.T) {
	for name, c := range map[string]Command{"lost": ExpireMachine{Name: "n", Epoch: 1}, "restarted": JoinMachine{Name: "n", Instance: "2", Slots: Slots{4, 1}}} {
		t.Run(name, func(t *testing.T) {
			s := New("1")
			good := AttemptID{TaskID{JobID{"1", 2}, "m", 0}, 0}
			bad := attemptAt(mapTask(0), 0)
			apply(t, s, JoinMachine{Name: "n", Slots: Slots{4, 1}}, submit(1, 1), submit(1, 1), StartJob{job1}, StartJob{JobID{"1", 2}},
				StartAttempt{Task: bad.Task, Machine: "n"}, StartAttempt{Task: good.Task, Machine: "n"})
			s.jobs[0].Stages[0].Tasks[0].Attempts[0].State = AttemptWorkLost
			delta, err := s.ApplyContained(Entry{At: 9, Command: c}, nil)
			if !errors.Is(err, ErrInternal) || !delta.Policy || len(delta.Machines) == 0 {
				t.Errorf("%v, delta %+v", err, delta)
			}
			if err := s.CheckInvariants(); err != nil {
				t.Error(err)
			}
			_, _, a, _ := s.View().Attempt(good)
			if m := s.View().Machine("n"); a.State != AttemptLost || m.Lost != (name == "lost") || len(m.Attempts) != 0 || s.jobs[0].State != JobAborting {
				t.Errorf("the other attempt is %v, the machine %+v, the job %v", a.State, m, s.jobs[0].State)
			}
			apply(t, s, CloseJob{job1})
		})
	}
}

// TestPanicWithoutAJobIsRefused applies a command that panics before it names a job.
func TestPanicWithoutAJobIsRefused(t *testing.T) {
	s, j := running(t, dag.MapReduce(1, 1))
	if _, err := s.ApplyContained(Entry{At: 9, Command: (*KillJob)(nil)}, nil); !errors.Is(err, ErrInternal) || j.State != JobRunning {
		t.Errorf("%v; the job is %v", err, j.State)
	}
	if err := s.CheckInvariants(); err != nil {
		t.Error(err)
	}
}
