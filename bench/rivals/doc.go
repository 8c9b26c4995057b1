// Package rivals compares Hammr with DuckDB, Polars, Spark and the coreutils on common
// workloads: counts, joins, sorts, an index, iterations and compressed files.
//
// A Workload has a generated input, a program of ours and a script of at most 60 lines for
// each rival. Each pair of a workload and a rival is a contest of package bench, which runs
// both sides in alternation. Before anything is measured, both outputs are compared record by
// record: a ratio of different results is no ratio.
//
// The rivals are Python packages. Install puts them into a virtual environment at the
// versions of requirements.txt. A rival that is not installed is skipped with a message.
//
//	err := rivals.Run(ctx, rivals.Config{Config: bench.Config{SizeBytes: 64 << 20}})
//
//	workload × rival ─► contest ─► package bench: input, rehearsal, compare, rounds, ratio
package rivals
