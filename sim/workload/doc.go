// Package workload holds what a simulator runs: jobs with their times of submission and, for
// every task, its time and its bytes.
//
//	trace, history or spec ── reader ──► Workload ── Validate ──► simulator
//
// A Workload is plain data. Readers make it from published traces (ReadCSV, ReadSWIM,
// ReadRumen), from histories of a cluster (ReadHistory) or from distributions (ParseSpec,
// Spec.Generate). ReadFile detects the format. If a source has bytes but no times, a Model
// computes them; a source with neither is refused. docs/sim.md states every rule.
//
// The package is deterministic: the same input, options and seed give the same Workload, bit
// for bit. It starts no goroutine, reads no clock and opens only files that it is given by
// name. A Workload from a reader is valid. A caller that fills one by hand calls Validate
// before running it. No function changes a Workload after it is returned, so runs may share
// one.
package workload
