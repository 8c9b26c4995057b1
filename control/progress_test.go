package control

import (
	"math"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/testing/must"
	"github.com/hammr/hammr/preempt"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/fifo"
)

// TestKnownProgress stores progress from 0 on; any other number counts as unknown.
func TestKnownProgress(t *testing.T) {
	id := cluster.AttemptID{Number: 1}
	for fraction, want := range map[float64]bool{0: true, .25: true, 1: true, -1: false, math.NaN(): false} {
		p := make(progress)
		p.update(7, cluster.MapSlot, AttemptProgressed{Attempt: id, Fraction: fraction})
		if got, known := p.Progress(id); known != want || known && (got.Fraction != fraction || got.ReportedAt != 7) {
			t.Errorf("fraction %v: %+v, %v", fraction, got, known)
		}
	}
}

// TestMemoryOfMachines stores the free memory of a machine from its first report until it is
// lost; reports of unknown machines are ignored.
func TestMemoryOfMachines(t *testing.T) {
	state := cluster.New("1")
	apply := func(c cluster.Command) cluster.Delta {
		delta, err := state.Apply(cluster.Entry{At: 1, Command: c})
		must.Do(t, err)
		return delta
	}
	c := New(state.View(), fifo.New(sched.DefaultPlacement()))
	known := func(name string) preempt.MemHeadroom {
		r, _ := c.policyView().MemHeadroom(name)
		return r
	}
	measured := MachineMeasured{Name: "m", Headroom: preempt.MemHeadroom{Free: 5, Swap: 7}}
	c.Step(1, []Event{measured})
	if got := known("m"); got != (preempt.MemHeadroom{}) {
		t.Errorf("of a machine that never came: %+v", got)
	}
	apply(cluster.JoinMachine{Name: "m", Slots: cluster.Slots{1, 1}})
	c.Step(2, []Event{measured})
	if got := known("m"); got != measured.Headroom {
		t.Errorf("%+v, want %+v", got, measured.Headroom)
	}
	delta := apply(cluster.ExpireMachine{Name: "m", Epoch: state.View().Machine("m").Epoch})
	c.Step(3, []Event{Applied{Results: []Result{{Delta: delta}}}})
	if got := known("m"); got != (preempt.MemHeadroom{}) {
		t.Errorf("of a machine that is lost: %+v", got)
	}
}

// TestMemoryOfAttempts stores the memory that attempts report with their progress.
func TestMemoryOfAttempts(t *testing.T) {
	id := cluster.AttemptID{Number: 1}
	p := make(progress)
	for _, tt := range []struct{ memory, unwritten, wantMemory, wantUnwritten int64 }{{10, 4, 10, 4}, {0, 0, 0, 0}, {-1, -1, 0, 0}} {
		p.update(7, cluster.MapSlot, AttemptProgressed{Attempt: id, Memory: tt.memory, Unwritten: tt.unwritten})
		if got, _ := p.Progress(id); got.Memory != tt.wantMemory || got.Unwritten != tt.wantUnwritten {
			t.Errorf("%+v, of which is known %+v", tt, got)
		}
	}
}
