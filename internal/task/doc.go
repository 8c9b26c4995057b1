// Package task runs one attempt of one task. A task is a NodeGroup: one Node, or several in
// one process. A Node reads a range of input, or what other Nodes have written, and passes
// it to the user's code. It writes sorted runs, output files, streams, or batches in memory.
// A map and a reduce are Nodes like others.
//
// Serve exchanges the messages of package taskproc on a connection. It receives Start, runs
// the attempt with the user's code found in Programs, and ends with Finished, Failure,
// Checkpointed or Exited. Program is the user's code; package mr makes it from typed
// functions. Its RunNode opens the inputs (Map, Reduce, ReceiveStreams, ReceiveShared) and
// the outputs (Output, SetCollector, SendStream, SendShared). It owns the record loop, which
// polls for signals at every record or key group:
//
//	flag := n.SignalFlag()
//	for r.Next() {
//		if flag.Signalled() {
//			if act, err := n.PollSignals(…); act != task.Continue { return err }
//		}
//		… the user's function …
//	}
//
// Signalled is one atomic load. A signal orders a report, an early end, a checkpoint,
// or the end by a kill. A map that is alone in its group and writes files can be split.
// Every Node can be checkpointed, all Nodes of a group and all groups of a gang together;
// quiesce.go describes how. Each type names its owner in a field:
//
//	Attempt ◄── groupRun ◄── NodeRun ◄── Map, Reduce
//
// Three kinds of edges join Nodes:
//
//	file    collector ══> data file and index ══> Reduce, on this machine or another
//	tcp     StreamWriter ══> server of the reader's machine ══> StreamReader
//	shm     SharedWriter ══> queue of the group ══> SharedReader
//
// A Node that fails ends the others of its group, and its error becomes the attempt's. A
// stream or queue that its writer has not closed ends with an error. A finished Node drains
// what it has not read, so that its writers do not fail. All memory for sorting and merging
// comes from the attempt, which has a slot's memory for each Node.
//
// Goroutines: those of a session (serve.go), one for each Node of a group of several,
// and those of streams (stream_reader.go; openStreams while both ends are awaited). An
// attempt waits for all of them before its last message.
//
// An attempt writes only to its own local directory, and to output files whose names no
// other attempt uses. It renames nothing: its output counts once its Finished is
// accepted.
package task
