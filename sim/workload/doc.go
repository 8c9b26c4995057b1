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
//
// The formats, with an example of each (docs/sim.md has all columns and keys):
//
//	csv      job,arrival_s,maps,reduces,map_input_bytes,shuffle_bytes
//	         j1,0,20,2,2684354560,104857600
//	swim     job0 TAB 0 TAB 12 TAB 67108864 TAB 1048576 TAB 1048576
//	rumen    {"jobID":"job_1","submitTime":…,"mapTasks":[…],"reduceTasks":[…]}
//	history  {"type":"job",…} {"type":"task",…} … {"type":"end","tasks":22}
//	spec     jobs=100,arrival=exp:13s,maps=pareto:1.5:1:500,map=lognormal:60s:0.3
//
// Times of tasks are those on an idle slot with local input. Whatever else takes time on a
// cluster, such as remote reads, the shuffle, waiting and failures, is the simulator's
// part.
package workload
