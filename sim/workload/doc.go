// Package workload is what a simulator runs: jobs with the time of their
// submission and, for every task, how long it takes and how many bytes it has.
//
//	trace, log or law ──reader──► Workload ──Check──► simulator
//
// A Workload is plain data. Readers make it of published traces (ReadCSV,
// ReadSWIM, ReadRumen), of what a cluster has run (ReadHistory) or of laws of
// chance (ParseSpec, Spec.Generate); ReadFile picks the reader for a file. A
// source that tells of bytes but not of times gets them by a Model, one that
// tells neither is refused. docs/sim.md states every rule.
//
// The package is deterministic: the same input, options and seed give the same
// Workload, bit for bit, whatever the order in which tasks are looked at. It
// starts no goroutine, reads no clock and opens only files that it is given by
// name. What a reader returns has passed Check; whoever fills a Workload by
// hand calls Check before running it. Nothing here changes a Workload after it
// is returned, so runs may share one as long as they only read it.
package workload
