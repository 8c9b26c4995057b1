// Package preempt is how a slot is taken from a running task.
package preempt

// How is a way to take its slot from a running attempt, after the papers on HFSP
// (section 4) and Chronos (section 4).
type How string

const (
	// Checkpoint has it write its state to the disk of its machine and end.
	Checkpoint How = "checkpoint"
	// Kill ends it at once; its work is lost.
	Kill How = "kill"
)
