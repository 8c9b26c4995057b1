package fifo

import (
	"fmt"
	"slices"
	"testing"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/locality"
	"github.com/hammr/hammr/sched"
	"github.com/hammr/hammr/sched/schedtest"
)

// offers formats the offers of a round: "1map skip 2: why".
func (w *testCluster) offers(placement sched.Placement) (out []string) {
	view := w.PolicyView()
	view.Trace = true
	p := New(placement)
	p.Reset(w.Now, view)
	for _, d := range p.Decide(w.Now, view).Decisions {
		line := fmt.Sprintf("%d%s %s %d", d.Job.Number, d.Stage, d.Kind, d.Slots)
		if d.Cause != "" {
			line += ": " + d.Cause
		}
		if d.Until != 0 {
			line += fmt.Sprintf(" for %d", d.Until-w.Now)
		}
		out = append(out, line)
	}
	return out
}

func (w *testCluster) wantOffers(placement sched.Placement, want ...string) {
	w.T.Helper()
	if got := w.offers(placement); !slices.Equal(got, want) {
		w.T.Errorf("traced %q, want %q", got, want)
	}
}

func TestOffersAreTraced(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.submit(0, 0, "a", "b")
	w.wantOffers(sched.Placement{}, "1map offer 2", "1map skip 1: no slot is free")
	if d := w.Cluster.Plan(New(sched.Placement{})).Decisions; d != nil {
		t.Errorf("decisions without a trace: %v", d)
	}
}

func TestSkipHasEndOfWait(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.Join("b", 1, 0)
	w.submit(0, 0, "c")
	w.Join("c", 0, 0)
	delay := sched.DefaultDelay
	w.wantOffers(sched.Placement{Method: sched.Delay, Delay: delay},
		"1map offer 1", fmt.Sprintf("1map skip 1: waits for a slot where its input is for %d", delay.MachineWait-1))
}

// TestSkipHasLocalityLevel checks the cause while a task waits: no other machine at first,
// then the same rack too.
func TestSkipHasLocalityLevel(t *testing.T) {
	w := newTestCluster(t)
	for name, rack := range map[string]string{"a": "/1", "b": "/2", "c": "/2"} {
		slots := 1
		if name == "a" {
			slots = 0
		}
		w.Apply(cluster.JoinMachine{Name: name, Hosts: []string{name}, Rack: rack, Slots: cluster.Slots{slots, 0}})
	}
	w.submit(0, 0, "a")
	begin, placement := w.Now, sched.Placement{Method: sched.Delay, Delay: locality.Delay{MachineWait: 100, RackWait: 50}}
	for after, want := range map[int64]string{
		0: "1map skip 1: waits for a slot where its input is for 100", 99: "1map skip 1: waits for a slot where its input is for 1",
		100: "1map skip 1: waits for a slot in the rack of its input for 50", 149: "1map skip 1: waits for a slot in the rack of its input for 1",
	} {
		w.Now = begin + after
		w.wantOffers(placement, "1map offer 1", want)
	}
	w.Now = begin + 150
	w.wantOffers(placement, "1map offer 1")
}

func TestSkipNamesAvoidedMachines(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.Join("b", 1, 0)
	j := w.Run(schedtest.Spec(dag.MapReduce(2, 0)))
	id := w.Start(j, 0, 0, "a")
	w.Apply(cluster.FailAttempt{Attempt: id, Failure: cluster.Failure{Cause: "bad", Offset: -1}})
	w.Start(j, 0, 1, "b")
	w.wantOffers(sched.Placement{}, "1map offer 1", "1map skip 1: avoids the machines with free slots: a")
}

func TestSkipReportsReservedSlots(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 1)
	w.Join("b", 1, 0)
	j := w.Run(schedtest.Spec(dag.MapReduce(1, 0)))
	w.Start(j, 0, 0, "a")
	w.Run(schedtest.Spec(schedtest.Streamed(2, 1)))
	w.Run(schedtest.Spec(dag.MapReduce(1, 0)))
	w.wantOffers(sched.Placement{}, "2map offer 1", "2map skip 1: needs 2 map and 1 reduce slots at once",
		"3map offer 1", "3map skip 1: free slots are reserved for tasks that start together")
}

// TestSkipNamesMemoryForWriters has a reduce that may start early, on a machine that keeps memory
// for the maps that the reduce waits for.
func TestSkipNamesMemoryForWriters(t *testing.T) {
	w := newTestCluster(t)
	w.Join("a", 1, 0)
	w.Apply(cluster.JoinMachine{Name: "b", Hosts: []string{"b"}, Slots: cluster.Slots{1, 1}, MemoryMB: 2000})
	w.Start(w.Run(schedtest.Spec(dag.MapReduce(1, 0))), 0, 0, "b")
	s := schedtest.Spec(dag.MapReduce(2, 1))
	s.SlowStartPPM, s.MemoryMB = 0, [2]int64{1000, 1500}
	w.Start(w.Run(s), 0, 0, "a")
	w.wantOffers(sched.Placement{}, "2map offer 1", "2map skip 1: no slot is free", "2reduce offer 1",
		"2reduce skip 1: needs 1500 MiB of memory; machines with free slots have at most 2000 MiB left, and keep memory for the tasks whose output it reads")
}

// TestSkipNamesSlotsIfMemoryIsReserved reserves memory for one job while another one finds no
// slot.
func TestSkipNamesSlotsIfMemoryIsReserved(t *testing.T) {
	w := newTestCluster(t)
	w.Apply(cluster.JoinMachine{Name: "a", Hosts: []string{"a"}, Slots: cluster.Slots{1, 1}, MemoryMB: 1000})
	s := schedtest.Spec(dag.MapReduce(1, 0))
	s.MemoryMB = [2]int64{800, 0}
	w.Start(w.Run(s), 0, 0, "a")
	s = schedtest.Spec(dag.MapReduce(1, 1))
	s.SlowStartPPM, s.MemoryMB = 0, [2]int64{0, 500}
	w.Run(s)
	w.Run(schedtest.Spec(dag.MapReduce(1, 0)))
	w.wantOffers(sched.Placement{}, "2map offer 1", "2map skip 1: no slot is free", "3map offer 1", "3map skip 1: no slot is free",
		"2reduce offer 1", "2reduce skip 1: needs 500 MiB of memory; machines with free slots have at most 200 MiB left, and the memory of some is reserved")
}
