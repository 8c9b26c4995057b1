package cluster

import (
	"errors"
	"strings"
	"testing"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/testing/must"
)

// TestMemoryIsNotOvercommitted starts maps of 3 MiB on a machine of 8 MiB with five slots:
// two fit. Memory comes back when an attempt ends and when it is suspended.
func TestMemoryIsNotOvercommitted(t *testing.T) {
	s := New("1")
	spec := submit(5, 0)
	spec.Spec.MemoryMB = [2]int64{3, 0}
	mustApply(t, s, JoinMachine{Name: "n", Slots: Slots{5, 1}, MemoryMB: 8}, spec)
	must.Do(t, s.Load(job1, make([]Split, 5)))
	mustApply(t, s, StartJob{Job: job1})
	start := func(n int) error {
		_, err := s.Apply(Entry{At: 1, Command: StartAttempt{Task: mapTask(n), Machine: "n"}})
		return err
	}
	refused := func(n int) {
		t.Helper()
		if err := start(n); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "needs 3 MiB, and n has 2 of 8 MiB left") {
			t.Errorf("map %d: %v", n, err)
		}
	}
	for n := range 2 {
		must.Do(t, start(n))
	}
	refused(2)
	mustApply(t, s, FinishAttempt{Attempt: attemptAt(mapTask(0), 0)})
	must.Do(t, start(2))
	refused(3)
	suspended := attemptAt(mapTask(1), 0)
	mustApply(t, s, PreemptAttempt{Attempt: suspended, Mode: "suspend"})
	must.Do(t, start(3))
	if _, err := s.Apply(Entry{At: 2, Command: ResumeAttempt{Attempt: suspended}}); !errors.Is(err, ErrRefused) {
		t.Errorf("resumed without memory: %v", err)
	}
	mustApply(t, s, FinishAttempt{Attempt: attemptAt(mapTask(2), 0)}, ResumeAttempt{Attempt: suspended})
	if m := s.View().Machine("n"); m.UsedMemoryMB != 6 || m.FreeMemoryMB() != 2 {
		t.Errorf("%d MiB in use, %d free", m.UsedMemoryMB, m.FreeMemoryMB())
	}
	again := restored(t, encoded(t, s))
	if m := again.View().Machine("n"); m.UsedMemoryMB != 6 || m.MemoryMB != 8 {
		t.Errorf("after a restore %d of %d MiB are in use", m.UsedMemoryMB, m.MemoryMB)
	}
}

// TestBundleNeedsMemoryForAllItsTasks starts a gang of two tasks on a machine with memory for
// one.
func TestBundleNeedsMemoryForAllItsTasks(t *testing.T) {
	s := New("1")
	g := dag.MapReduce(1, 1)
	g.Edges[0].Channel = dag.ChannelTCP
	spec := SubmitJob{Spec: JobSpec{Graph: g, MaxAttempts: [2]int{4, 4}, MemoryMB: [2]int64{3, 6}}}
	mustApply(t, s, JoinMachine{Name: "n", Slots: Slots{1, 1}, MemoryMB: 8}, JoinMachine{Name: "o", Slots: Slots{1, 1}, MemoryMB: 8}, spec)
	must.Do(t, s.Load(job1, make([]Split, 1)))
	mustApply(t, s, StartJob{Job: job1})
	starts := func(second string) StartBundle {
		return StartBundle{Job: job1, Starts: []StartAttempt{{Task: mapTask(0), Machine: "n"}, {Task: TaskID{job1, "r", 0}, Machine: second}}}
	}
	if _, err := s.Apply(Entry{Command: starts("n")}); !errors.Is(err, ErrRefused) {
		t.Errorf("both on one machine: %v", err)
	}
	mustApply(t, s, starts("o"))
}

// TestMemoryOfMachinesAndJobsIsChecked refuses amounts whose sums could overflow.
func TestMemoryOfMachinesAndJobsIsChecked(t *testing.T) {
	s := New("1")
	for _, mb := range []int64{-1, maxMemoryMB + 1} {
		spec := submit(1, 0)
		spec.Spec.MemoryMB = [2]int64{0, mb}
		for _, c := range []Command{JoinMachine{Name: "n", MemoryMB: mb}, spec} {
			if _, err := s.Apply(Entry{Command: c}); !errors.Is(err, ErrRefused) {
				t.Errorf("%T with %d MiB: %v", c, mb, err)
			}
		}
	}
}
