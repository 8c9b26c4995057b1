package cluster

import (
	"slices"
	"testing"
)

// TestTotalsOfPeaksAreTheHighest finishes tasks, loses the output of the one with the highest peak, and
// restores the state.
func TestTotalsOfPeaksAreTheHighest(t *testing.T) {
	peak, sum := CounterName{"Map-Reduce Framework", "Peak Map Physical memory (bytes)"}, CounterName{"Map-Reduce Framework", "Physical memory (bytes) snapshot"}
	s := New("1")
	apply(t, s, submit(3, 1))
	loadSplits(s)
	apply(t, s, StartJob{job1}, JoinMachine{Name: "n", Instance: "x", Slots: Slots{9, 9}})
	for task, memory := range []int64{20, 30, 10} {
		a := attemptAt(mapTask(task), 0)
		_, _, of, _ := s.View().Task(mapTask(task))
		apply(t, s, StartAttempt{Task: mapTask(task), Machine: "n", Range: s.View().Job(job1).RangeOf(of)})
		apply(t, s, FinishAttempt{Attempt: a, Range: of.Range, Counters: []Counter{{peak, memory}, {sum, memory}}})
	}
	check := func(when string, highest, total int64) {
		for _, state := range []*State{s, restored(t, encoded(t, s))} {
			if got := state.View().Job(job1).Counters(state.View().Job(job1).Stages...); !slices.Equal(got, []Counter{{peak, highest}, {sum, total}}) {
				t.Errorf("%s: %v, want %d and %d", when, got, highest, total)
			}
		}
	}
	check("finished", 30, 60)
	apply(t, s, LoseOutput{attemptAt(mapTask(2), 0), "unreadable"})
	check("without the lowest", 30, 50)
	apply(t, s, LoseOutput{attemptAt(mapTask(1), 0), "unreadable"})
	check("without the highest", 20, 20)
	apply(t, s, LoseOutput{attemptAt(mapTask(0), 0), "unreadable"})
	check("without any", 0, 0)
}
