package sim

import (
	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/preempt"
)

// Preemption is a slot that was taken from a running attempt for somebody else.
// Work is the time for which the attempt held its slot until then. Of an attempt
// that its machine's failure ended before it could keep its work, it is neither
// lost nor conserved here, but lost in LostMachine.
type Preemption struct {
	At      int64
	Job     string // id in the workload
	Kind    cluster.Slot
	Task    int // number in the phase
	Attempt int // number in the task
	How     preempt.How

	Lost      int64 // ms of work that was thrown away
	Conserved int64 // ms of work that counts
}

// Cost is what a way of taking slots has cost.
type Cost struct {
	Preemptions     int
	Lost, Conserved int64 // ms of work
}

// ByWay sums up what each way of taking slots has cost.
func (r *Result) ByWay() map[preempt.How]Cost {
	sums := make(map[preempt.How]Cost)
	for _, p := range r.Preempted {
		sum := sums[p.How]
		sums[p.How] = Cost{sum.Preemptions + 1, sum.Lost + p.Lost, sum.Conserved + p.Conserved}
	}
	return sums
}

// LostMachine is the failure of a machine.
type LostMachine struct {
	Node    int   // number of the machine
	At      int64 // when it failed
	Verdict int64 // when it was given up, or was back before that; -1 when the run ended first
	Back    int64 // when it was back; -1 for never

	Running  int   // attempts that were lost
	WorkLost int64 // ms for which those had held slots until the failure
	Outputs  int   // finished attempts whose output was lost while it was needed
	Output   int64 // ms for which those had held slots
}

// Recovery is the first attempt at a task since an earlier one, or its output,
// was lost with a machine.
type Recovery struct {
	Job     string // id in the workload
	Kind    cluster.Slot
	Task    int
	Attempt int
	Machine int   // on which it runs
	Verdict int64 // when the machine of the earlier attempt was given up
	Start   int64
	Local   bool // it is a map whose input lies on its machine
}

// Wait is for how long a task waited for its recovery after the verdict, in ms.
func (r Recovery) Wait() int64 { return r.Start - r.Verdict }
