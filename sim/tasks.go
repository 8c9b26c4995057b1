package sim

import "github.com/hammr/hammr/cluster"

// TaskResult is what became of an attempt.
type TaskResult struct {
	Job     string // id in the workload
	Kind    cluster.Slot
	Task    int // number in the phase
	Attempt int // number in the task
	Machine int // number of the machine

	Start, End int64 // End is when it was clear what becomes of it; -1 when that was never
	Suspended  int64 // ms for which it stood still
	Local      bool  // it is a map whose input lies on its machine
	Outcome    Outcome
	Fraction   float64 // of the original task that it was to do, or has done if it succeeded
}

// Outcome is what became of an attempt.
type Outcome string

// The outcomes of attempts.
const (
	Finished     Outcome = "finished"
	SplitOff     Outcome = "split"       // it finished a part, the rest went to another task
	Checkpointed Outcome = "checkpoint"  // another attempt may go on from what it wrote
	Killed       Outcome = "killed"      // its work came to nothing
	MachineLost  Outcome = "lost"        // it ran on a machine that failed
	OutputLost   Outcome = "output lost" // it finished, and its machine failed while its output was needed
)
