// Package task runs one attempt of one task: a range of input through the
// user's map function into sorted runs or output files, or the runs of one
// partition through the user's reduce function into output files.
//
// Serve speaks the messages of package taskproc on a connection: it receives
// Start, runs the attempt with the user's code found in Programs, and answers
// with Done, Failure, Paused or Killed. The user's code is reached through
// Program; package mr builds those from typed functions. It owns the record
// loop and calls Attend at every record or key group:
//
//	for r.Next() {
//		if m.Signalled() {
//			if act, err := m.Attend(r.Position()); act != task.Continue { return err }
//		}
//		… the user's map function …
//	}
//
// Signalled is one atomic load. Everything that may happen between two records
// hangs on it: progress, an early end, a pause, a kill.
//
// An attempt writes only to its own local directory and to output files whose
// names no other attempt uses. It renames nothing: what it wrote counts when
// its Done has been accepted.
package task
