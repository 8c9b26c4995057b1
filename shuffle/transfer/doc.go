// Package transfer moves between machines what Nodes have written to files, such
// as the output of maps, and what they send each other in streams.
//
// A Server answers for the files that attempts left in a node's local
// directories; docs/formats/transfer.md describes what it is asked and what it
// answers. It belongs to the tasknode, so that output outlives the task that
// wrote it.
//
// A Copier takes the runs of one partition from many such servers into a sink,
// which in a reduce is a shuffle.Intake. It has a queue of outputs by source and
// as many goroutines as there may be copies at once; each takes the next output
// of the source that is least in use, and tries it once. What fails goes back
// into the queue, and its source is left alone for a while, so that a bad source
// holds up nobody but itself:
//
//	queue ──► goroutine ──► Fetcher.Fetch: index, runs ──► sink (all or none)
//	  ▲           │
//	  └─ again ◄──┴─► Result: taken in, to be tried again, or lost
//
// Who is to blame for bytes that do not match their checksums is found out by
// reading once more and then by asking the source to read for itself: if its
// disk is bad, the output is lost (LostError) and the map runs again; if it is
// good, the network is at fault and the copy is tried later.
//
// Streams join two Nodes that run at once: docs/formats/channel.md. Both ends
// meet at the Server of the reader's machine, to which a ChannelClient
// leads, or in the memory of one process; a Rendezvous is the table of
// those that have come.
//
// Sources is what all fetchers of a process share: how many bytes each node owes
// them at most, and the indexes they have seen.
//
// The caller closes what it makes. Close of a Copier waits for its goroutines;
// those of a Fetcher's idle connections end with its Close. Serve starts one
// goroutine a connection and waits for them.
package transfer
