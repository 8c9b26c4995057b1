// Package history reads and writes the histories of finished jobs: what happened to every task
// (docs/formats/history.md). The leading jobmaster writes a file for each job. Masters, pages and
// tools read them, also without a cluster.
//
//	Job ──Encode──► JOB.jsonl.zst ──Decode──► Job ──► Status, Columns, EventLog, CountersOf, …
//
// Version 1 of the format has the status of the job with its tasks. Version 2 adds the counters and
// the input of each task, how its attempts ended, and the events of the job. Decode reads both,
// compressed or not; what version 1 does not have is left out, and the methods of Job say so.
package history
