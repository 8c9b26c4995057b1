// Package transfer moves map outputs and other files of Nodes between machines, and carries
// the streams between Nodes.
//
// A Server serves the files in a tasknode's local directories; docs/formats/transfer.md
// describes its protocol. It belongs to the tasknode, so that output outlives the task that
// wrote it.
//
// A Copier copies the runs of one partition from many servers into a sink, which in a reduce
// is a shuffle.Intake. It has a queue of outputs by source, and one goroutine per parallel
// copy. Each goroutine takes the next output of the least used source and tries it once. A
// copy that fails returns to the queue, and its source has to wait, so that a bad source
// delays only itself:
//
//	queue ──► goroutine ──► Fetcher.Fetch: index, runs ──► sink (all or none)
//	  ▲           │
//	  └─ again ◄──┴─► Result: taken, to be retried, or lost
//
// If bytes do not match their checksums, the Fetcher reads them once more, and then asks the
// source to verify its disk. If the disk is corrupt, the output is lost (LostError) and the
// map runs again. If the disk is good, the network caused the damage, and the copy is
// retried later.
//
// Streams join two Nodes that run at the same time; see docs/formats/channel.md. Both ends
// connect to the Server of the reader's machine through a ChannelClient, or meet in the
// memory of one process. A Rendezvous is the table of open ends.
//
// All fetchers of a process share a Sources: it bounds the bytes requested from each server,
// and caches indexes.
//
// The caller closes every object that it makes. Close of a Copier waits for its goroutines.
// Close of a Fetcher ends the goroutines of its idle connections. Serve starts one goroutine
// per connection and waits for them.
package transfer
