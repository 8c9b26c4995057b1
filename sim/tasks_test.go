package sim

import (
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

func TestTaskResults(t *testing.T) {
	r := perform(t, configOf(1, 1, 1), &script{mode: preempt.Split, victim: "m_000000", at: 4000, until: 6000}, oneMapJob("a", 1))
	want := []TaskResult{
		{Job: "a", End: 4500, Local: true, Outcome: SplitOff, Fraction: 0.4},
		{Job: "a", Task: 1, Start: 6000, End: 12_000, Local: true, Outcome: Finished, Fraction: 0.6},
		{Job: "a", Kind: cluster.ReduceSlot, Start: 6000, End: 23_000, Outcome: Finished, Fraction: 1},
	}
	if !slices.Equal(r.Tasks, want) {
		t.Errorf("tasks are\n%+v\nwant\n%+v", r.Tasks, want)
	}
}
