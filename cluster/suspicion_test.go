package cluster

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// suspicionTest is a cluster of machines n0, n1, … with two map slots and two reduce slots
// each, and jobs whose maps have finished.
type suspicionTest struct {
	*testing.T
	s  *State
	at int64
}

func newSuspicionTest(t *testing.T, machines int) *suspicionTest {
	c := &suspicionTest{T: t, s: New("1"), at: 1}
	for i := range machines {
		c.apply(JoinMachine{Name: fmt.Sprintf("n%d", i), Instance: "a", Slots: Slots{2, 2}})
	}
	return c
}

func (c *suspicionTest) apply(command Command) Delta {
	c.Helper()
	delta, err := c.s.Apply(Entry{At: c.at, Command: command})
	if err != nil {
		c.Fatalf("%T %+v: %v", command, command, err)
	}
	if err := c.s.CheckInvariants(); err != nil {
		c.Fatal(err)
	}
	return delta
}

// run submits a job and runs its maps, map i on machine on[i]. It returns the job.
func (c *suspicionTest) run(on ...string) *Job {
	c.Helper()
	spec := submit(len(on), 1)
	spec.Spec.MaxAttempts, spec.Spec.SlowStartPPM = [2]int{9, 9}, 1_000_000
	id := c.apply(spec).Submitted
	if err := c.s.Load(id, make([]Split, len(on))); err != nil {
		c.Fatal(err)
	}
	c.apply(StartJob{Job: id})
	for i, machine := range on {
		c.apply(FinishAttempt{Attempt: c.start(TaskID{id, "m", i}, machine)})
	}
	return c.s.View().Job(id)
}

func (c *suspicionTest) start(task TaskID, machine string) AttemptID {
	c.Helper()
	return c.apply(StartAttempt{Task: task, Machine: machine}).Started[0]
}

// failFetch starts the reduce of a job on a machine and fails it without an answer for the
// output of a map. It reports whether the map runs again.
func (c *suspicionTest) failFetch(j *Job, machine string, fromMap int) (revoked bool) {
	c.Helper()
	reader := c.start(TaskID{j.ID, "r", 0}, machine)
	writer := attemptAt(TaskID{j.ID, "m", fromMap}, 0)
	delta := c.apply(FailAttempt{Attempt: reader, Uncharged: true, Unreached: writer, Failure: Failure{Cause: "no answer"}})
	return slices.Contains(delta.Revoked, writer)
}

func (c *suspicionTest) wantAvoided(j *Job, want ...string) {
	c.Helper()
	if got := c.s.View().Avoided(j, c.at); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		c.Errorf("all jobs avoid %q, want %q", got, want)
	}
	again := restored(c.T, encoded(c.T, c.s))
	if got := again.View().Avoided(again.View().Job(j.ID), c.at); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		c.Errorf("after a restore, all jobs avoid %q, want %q", got, want)
	}
}

// TestReaderThatReachesNoSource has the reduce on n0 fail to fetch from n1 and n2, which others
// can reach. No map runs again, the task avoids n0, and after the second source all jobs do.
func TestReaderThatReachesNoSource(t *testing.T) {
	c := newSuspicionTest(t, 8)
	j := c.run("n1", "n2")
	if c.failFetch(j, "n0", 0) {
		t.Error("a map ran again for the word of one machine")
	}
	reduce := j.Stages[1].Tasks[0]
	if got := c.s.View().FailedOn(reduce); !slices.Equal(got, []string{"n0"}) {
		t.Errorf("the reduce avoids %q, want n0", got)
	}
	if reduce.Charged != 0 {
		t.Errorf("%d tries are charged", reduce.Charged)
	}
	c.wantAvoided(j)
	second := c.run("n2")
	if c.failFetch(second, "n0", 0) {
		t.Error("a map ran again for the word of one machine")
	}
	c.wantAvoided(second, "n0")
	if got := c.s.View().Suspicion(c.s.View().Machine("n0"), c.at); got != "it cannot fetch from 2 machines" {
		t.Errorf("the reason is %q", got)
	}
	c.apply(AdmitMachine{Name: "n0"})
	c.wantAvoided(second)
}

// TestSourceThatAnswersNoMachine has reduces on n1 and n2 fail to fetch from n0. The second one
// confirms it: the map runs again, and all jobs avoid n0 for a while.
func TestSourceThatAnswersNoMachine(t *testing.T) {
	c := newSuspicionTest(t, 8)
	j := c.run("n0", "n3")
	if c.failFetch(j, "n1", 0) {
		t.Error("a map ran again for the word of one machine")
	}
	if !c.failFetch(j, "n2", 0) {
		t.Error("the map does not run again, though two machines got no answer")
	}
	c.wantAvoided(j, "n0")
	c.at += suspicionMillis
	c.wantAvoided(j)
}

// TestTaskWithoutAnAnswerEnds fails the same reduce again and again on one machine, since
// no other takes it. The map runs again after a bounded number of attempts.
func TestTaskWithoutAnAnswerEnds(t *testing.T) {
	c := newSuspicionTest(t, 2)
	j := c.run("n0")
	for n := 1; !c.failFetch(j, "n1", 0); n++ {
		if n == maxUnreached {
			t.Fatalf("the map does not run again after %d attempts", n)
		}
	}
}

// TestMachineOnWhichTasksOfSeveralJobsFail fails a map of each job on n0. It succeeds on n1.
func TestMachineOnWhichTasksOfSeveralJobsFail(t *testing.T) {
	c := newSuspicionTest(t, 8)
	var last *Job
	for n := range suspectedJobs {
		spec := submit(1, 0)
		spec.Spec.MaxAttempts = [2]int{4, 4}
		id := c.apply(spec).Submitted
		if err := c.s.Load(id, make([]Split, 1)); err != nil {
			t.Fatal(err)
		}
		c.apply(StartJob{Job: id})
		task := TaskID{id, "m", 0}
		c.apply(FailAttempt{Attempt: c.start(task, "n0"), Failure: Failure{Cause: "bad disk"}})
		last = c.s.View().Job(id)
		if n < suspectedJobs-1 {
			c.wantAvoided(last)
		}
		c.apply(FinishAttempt{Attempt: c.start(task, "n1")})
	}
	if got := c.s.View().Suspicion(c.s.View().Machine("n0"), c.at); !strings.Contains(got, "tasks of 3 jobs failed on it") {
		t.Errorf("the reason is %q", got)
	}
	c.wantAvoided(last, "n0")
	c.apply(JoinMachine{Name: "n0", Instance: "b", Slots: Slots{2, 2}})
	c.wantAvoided(last)
}

// TestOldEvidenceIsDropped notes evidence against several machines, and long after that against
// another one. The evidence that does not count any more leaves the state.
func TestOldEvidenceIsDropped(t *testing.T) {
	c := newSuspicionTest(t, 8)
	first := c.run("n0", "n1")
	c.failFetch(first, "n2", 0)
	c.failFetch(first, "n3", 1)
	c.at += suspicionMillis / 2
	c.failFetch(c.run("n0"), "n4", 0)
	if n := len(c.s.evidence); n != 3 {
		t.Fatalf("%d machines have evidence", n)
	}
	c.at += suspicionMillis / 2
	c.failFetch(c.run("n0"), "n5", 0)
	var names []string
	for _, m := range c.s.evidence {
		names = append(names, m.Name)
	}
	if !slices.Equal(names, []string{"n4", "n5"}) || len(c.s.byName["n2"].Unreached) > 0 {
		t.Errorf("evidence is kept of %v, and of n2: %v", names, c.s.byName["n2"].Unreached)
	}
}

// TestSuspectedMachinesHaveASuspicion compares the suspected machines with what Suspicion
// returns for each machine.
func TestSuspectedMachinesHaveASuspicion(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		s := New("1")
		const machines = 40
		for i := range machines {
			apply(t, s, JoinMachine{Name: fmt.Sprint("n", i), Instance: "a", Slots: Slots{2, 2}})
		}
		for range r.IntN(8) {
			m, source := s.Machines[r.IntN(machines)], s.Machines[r.IntN(10)]
			if at := 1 + r.Int64N(2*suspicionMillis); r.IntN(2) == 0 {
				m.Unreached = keepRecent(m.Unreached, unreached{source.Name, at}, 0, func(e unreached) bool { return e.Source == source.Name })
			} else {
				m.FailedTasks = append(m.FailedTasks, failedTask{job1, at}, failedTask{JobID{"1", 2}, at}, failedTask{JobID{"1", 3}, at})
			}
			if !slices.Contains(s.evidence, m) {
				s.evidence = append(s.evidence, m)
			}
		}
		for _, now := range []int64{1, suspicionMillis, 2 * suspicionMillis} {
			var want []string
			for _, m := range s.Machines {
				if s.View().Suspicion(m, now) != "" {
					want = append(want, m.Name)
				}
			}
			got := slices.Sorted(slices.Values(s.View().suspected(now)))
			if slices.Sort(want); !slices.Equal(got, want) {
				t.Fatalf("at %d: %v are suspected, want %v", now, got, want)
			}
		}
	}
}

// TestNotAllMachinesAreAvoided suspects two of three machines: something that they share is at
// fault, and none is avoided.
func TestNotAllMachinesAreAvoided(t *testing.T) {
	c := newSuspicionTest(t, 3)
	j := c.run("n0", "n1")
	c.failFetch(j, "n1", 0)
	c.failFetch(j, "n2", 0)
	c.wantAvoided(j)
}
