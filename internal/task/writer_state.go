package task

import (
	"slices"

	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// writerState is what a copyPhase knows of a writer, from the first output that is given to the copier:
//
//	idle ──► copying ──► idle: its segments are in the intake
//	          │   ▲
//	  revoked ▼   │ its next output
//	          lost
type writerState struct {
	edge    *copyEdge
	number  int32 // identifies the writer to the copier
	status  writerStatus
	outputs []givenOutput // given to the copier, one of each attempt
}

// writerStatus says whether the segments of a writer are being copied.
type writerStatus int

const (
	writerIdle    writerStatus = iota // they are not
	writerCopying                     // they are
	writerLost                        // they are, but the output is revoked, and the task runs again
)

// givenOutput is the latest output of an attempt.
type givenOutput struct {
	*taskproc.MapOutput
	revoked bool
}

// enter changes the status.
func (w *writerState) enter(s writerStatus) {
	w.edge.writers[w.status]--
	w.edge.writers[s]++
	w.status = s
}

// give adds an output, in place of an earlier one of its attempt.
func (w *writerState) give(o *taskproc.MapOutput) {
	i := w.find(o.Attempt)
	if i < 0 {
		i, w.outputs = len(w.outputs), append(w.outputs, givenOutput{})
	}
	w.outputs[i] = givenOutput{MapOutput: o}
}

// has reports whether an output is given to the copier, with the same address, and not revoked.
func (w *writerState) has(o *taskproc.MapOutput) bool {
	i := w.find(o.Attempt)
	return i >= 0 && !w.outputs[i].revoked && w.outputs[i].Address == o.Address
}

// find returns the index of the output of an attempt, -1 if it has none.
func (w *writerState) find(attempt string) int {
	return slices.IndexFunc(w.outputs, func(o givenOutput) bool { return o.Attempt == attempt })
}
