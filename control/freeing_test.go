package control

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fair"
	"github.com/hammr/hammr/sched/fifo"
	"github.com/hammr/hammr/sched/hfsp"
)

// batches plays events and returns the commands of each batch.
func (s *harness) batches(line string) (all []string) {
	s.t.Helper()
	events := s.event(strings.Fields(line))
	for {
		step := s.brain.Step(s.now, events)
		if len(step.Commands) == 0 {
			return all
		}
		var names []string
		for _, e := range step.Commands {
			names = append(names, strings.TrimPrefix(fmt.Sprintf("%T", e.Command), "cluster."))
		}
		all = append(all, strings.Join(names, " "))
		events = []Event{s.apply(step.Commands)}
	}
}

// TestFreedSlotsAreGivenOutInTheSameBatch lets maps end that occupy all slots while others
// wait. A policy without a static order waits for the end if two jobs want the slots.
func TestFreedSlotsAreGivenOutInTheSameBatch(t *testing.T) {
	together, after := []string{"FinishAttempt StartAttempt"}, []string{"FinishAttempt", "StartAttempt"}
	newFair := func() sched.Policy { return fair.New(fair.Config{}) }
	newHFSP := func() sched.Policy { return hfsp.New(hfsp.Config{TrainSlots: [2]int{-1, -1}}) }
	newFIFO := func() sched.Policy { return new(fifo.Policy) }
	for name, c := range map[string]struct {
		policy     func() sched.Policy
		anticipate bool
		events     []string
		last       string
		want       []string
	}{
		"one job":                    {newFIFO, true, nil, "finished m0.0", together},
		"one job, fair":              {newFair, true, nil, "finished m0.0", together},
		"not anticipated":            {newFIFO, false, nil, "finished m0.0", after},
		"two jobs, static order":     {newFIFO, true, []string{"submit 3 0", "load 2"}, "finished m0.0", together},
		"two jobs, order of sizes":   {newHFSP, true, []string{"submit 3 0", "load 2"}, "finished m0.0", together},
		"two jobs, fair":             {newFair, true, []string{"submit 3 0", "load 2"}, "finished m0.0", after},
		"a second report":            {newFIFO, true, []string{"finished m0.0"}, "finished m0.0", nil},
		"of an attempt that is over": {newFIFO, true, []string{"expire n1 1", "join n1 2 0"}, "finished m0.0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			policy := c.policy()
			policy.Reset(s.now, sched.View{View: s.state.View()})
			s.brain = New(s.state.View(), policy)
			if c.anticipate {
				s.brain.AnticipateEnds()
			}
			for _, line := range slices.Concat([]string{"join n1 2 0", "submit 4 0", "load 1"}, c.events) {
				s.batches(line)
			}
			before := s.state.View().Machine("n1").Used
			got := s.batches(c.last)
			if c.want == nil {
				for _, batch := range got {
					if strings.Contains(batch, "StartAttempt") {
						t.Errorf("batches %q", got)
					}
				}
			} else if !slices.Equal(got, c.want) {
				t.Errorf("batches %q, want %q", got, c.want)
			}
			if after := s.state.View().Machine("n1").Used; after != before || before != (cluster.Slots{2, 0}) {
				t.Errorf("used %v, then %v", before, after)
			}
		})
	}
}
