package cluster

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/internal/testing/must"
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
	must.Do(c, c.s.CheckInvariants())
	return delta
}

// run submits a job and runs its maps, map i on machine on[i]. It returns the job.
func (c *suspicionTest) run(on ...string) *Job {
	c.Helper()
	spec := submit(len(on), 1)
	spec.Spec.MaxAttempts, spec.Spec.SlowStartPPM = [2]int{9, 9}, 1_000_000
	id := c.apply(spec).Submitted
	must.Do(c, c.s.Load(id, make([]Split, len(on))))
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
	if got := c.s.View().Machine("n0").SuspicionAt(c.at); got != "it cannot fetch from 2 machines" {
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

// TestOldReportsDoNotCount has two machines fail to fetch from n0, the second long after the first.
func TestOldReportsDoNotCount(t *testing.T) {
	c := newSuspicionTest(t, 8)
	j := c.run("n0")
	c.failFetch(j, "n1", 0)
	c.at += suspicionMillis
	if c.failFetch(j, "n2", 0) {
		t.Error("a map ran again for the word of one machine")
	}
	c.wantAvoided(j)
	if got := c.s.byName["n0"].Unread; !slices.Equal(got, []unread{{"n2", c.at}}) {
		t.Errorf("n0 has the reports %v", got)
	}
}

// TestRestartedReaderIsForgotten restarts the tasknode of a machine that got no answer. Its report does not count any more.
func TestRestartedReaderIsForgotten(t *testing.T) {
	c := newSuspicionTest(t, 8)
	j := c.run("n0", "n3")
	c.failFetch(j, "n1", 0)
	c.apply(JoinMachine{Name: "n1", Instance: "b", Slots: Slots{2, 2}})
	if c.failFetch(j, "n2", 0) {
		t.Error("a map ran again for the word of one machine")
	}
	c.wantAvoided(j)
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
