// Package task runs one attempt of one task, which is a NodeGroup: one Node or
// several in a process. A Node runs a range of input through the user's code, or
// what other Nodes have written, and writes sorted runs, output files, streams,
// or batches in memory. A map and a reduce are Nodes like others.
//
// Serve speaks the messages of package taskproc on a connection: it receives
// Start, runs the attempt with the user's code found in Programs, and answers
// with Done, Failure, Paused or Killed. The user's code is reached through
// Program; package mr builds those from typed functions. RunNode opens what it
// reads (Map, Reduce, ReceiveStreams, ReceiveShared) and what it writes (Output,
// SetCollector, SendStream, SendShared), owns the record loop, and calls Attend at
// every record or key group:
//
//	watch := n.Watch()
//	for r.Next() {
//		if watch.Signalled() {
//			if act, err := n.Attend(…); act != task.Continue { return err }
//		}
//		… the user's function …
//	}
//
// Signalled is one atomic load. Everything that may happen between two records
// hangs on it: progress, an early end, a pause, a kill. A map alone in its group that
// writes files can end early. Whatever there is can be paused, all Nodes of a group and
// all groups of a gang together: live.go says how.
//
// Nodes are joined by three kinds of edges:
//
//	file    collector ══> data file and index ══> Reduce, here or elsewhere
//	tcp     StreamWriter ══> server of the reader's machine ══> StreamReader
//	shm     SharedWriter ══> queue of the group ══> SharedReader
//
// A Node that fails ends the others of its group, and why it failed is why the
// attempt failed. A stream or queue whose writer has not closed it never seems
// to have ended well. What a Node leaves unread is read to its end when the Node
// has done its work, so that nobody fails for want of a reader. All memory for
// sorting and merging comes from the attempt, which has a slot's for each Node.
//
// Goroutines: those of a session (serve.go), one for each Node of a group of
// several, and those of streams (stream_reader.go, and openStreams while both
// ends are awaited). An attempt waits for all of them before its last word.
//
// An attempt writes only to its own local directory and to output files whose
// names no other attempt uses. It renames nothing: what it wrote counts when
// its Done has been accepted.
package task
