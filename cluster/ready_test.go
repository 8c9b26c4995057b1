package cluster

import "testing"

// TestReadyAt has reduces that may start when two of three maps have finished.
func TestReadyAt(t *testing.T) {
	s := New("1")
	job := submit(3, 1)
	job.Spec.SlowStartPPM = 400_000
	mustApply(t, s, JoinMachine{Name: "n", Slots: [2]int{4, 4}}, job)
	loadSplits(s)
	j := s.jobs[0]
	maps, reduces := j.Stages[0], j.Stages[1]
	want := func(when string, atMaps, atReduces int64) {
		t.Helper()
		if m, r := j.ReadyAt(maps), j.ReadyAt(reduces); m != atMaps || r != atReduces {
			t.Errorf("%s: ready since %d and %d, want %d and %d", when, m, r, atMaps, atReduces)
		}
	}
	apply := func(at int64, c Command) {
		t.Helper()
		if _, err := s.Apply(Entry{At: at, Command: c}); err != nil {
			t.Fatal(err)
		}
	}
	want("before it began", 0, 0)
	apply(5, StartJob{job1})
	for n := range 3 {
		apply(6, StartAttempt{Task: mapTask(n), Machine: "n", Range: whole})
	}
	for i, n := range []int{2, 0, 1} {
		apply(int64(10+i), FinishAttempt{Attempt: AttemptID{Task: mapTask(n)}, Range: whole})
		want("maps have finished", 5, []int64{0, 11, 11}[i])
	}
}
