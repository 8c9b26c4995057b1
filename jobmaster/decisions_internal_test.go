package jobmaster

import (
	"testing"

	"github.com/hammr/hammr/sched"
)

// TestDecisionsAreBounded adds more decisions than are kept.
func TestDecisionsAreBounded(t *testing.T) {
	var d Decisions
	for n := range int64(maxDecisions + 2500) {
		d.add([]sched.Decision{{At: n + 1, Kind: sched.DecisionLaunch}}, "fifo")
	}
	list := d.List(1, DecisionFilter{Limit: MaxDecisions * 2})
	if list.Kept != maxDecisions-decisionChunk+500 || len(list.Decisions) != MaxDecisions || list.Before != list.Decisions[MaxDecisions-1].Number {
		t.Fatalf("%d decisions kept, %d in a list", list.Kept, len(list.Decisions))
	}
	for i, n := range list.Decisions {
		if want := uint64(maxDecisions + 2500 - i); n.Number != want || n.At != int64(want) {
			t.Fatalf("decision %d is number %d of %d", i, n.Number, n.At)
		}
	}
	oldest := d.List(1, DecisionFilter{Before: uint64(list.Since) + 1})
	if len(oldest.Decisions) != 1 || oldest.Decisions[0].At != list.Since || oldest.Before != 0 {
		t.Errorf("the oldest is %+v, since %d", oldest, list.Since)
	}
}
