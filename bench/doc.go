// Package bench compares Hammr with programs that do only the work: a hand-written wordcount
// and sort (the yardstick), and GNU sort; and with DuckDB, Polars, Spark and the coreutils on
// common workloads. They run on the same files in alternation.
//
// A Contest has two Entries, ours and a rival, and an Input. Both run once unmeasured, which
// warms the page cache, and their outputs are compared, since a fast wrong answer does not
// count. Then they take turns; the first of a round alternates.
//
// Each turn is two runs, and only the second run is measured. Each side therefore reuses the
// memory that its own first run has just released. On a virtual machine whose host takes
// back free pages, the first touch of a page costs up to ten times a later touch. Without
// the first run, memory that the rival left behind would decide the result. Config.Cold
// leaves out the first run.
//
// The speed of a machine varies over minutes by more than the difference between programs.
// The figure that counts is therefore the median of the rounds' ratios, the rival's time
// over ours. Times and MB/s of different days are not comparable.
//
// Processes are measured from outside: wall-clock time from start to exit, the CPU time of all
// processes of the command from rusage, and their peak resident memory. The peak is that of
// the largest process from rusage, and that of all together from samples. Output is not
// synced, and is removed after each turn.
//
// A workload has a generated input, a program of ours and a script of at most 60 lines for each
// rival. Each pair of a workload and a rival is a contest. The rivals are Python packages, which
// RunRivals can install into a virtual environment at the versions of requirements.txt.
//
//	err := bench.Run(ctx, bench.Config{Cases: []string{"terasort*"}, Rounds: 5})
//
//	case ─► input ─► rehearsal of both sides ─► outputs equal? ─► rounds in alternation ─► ratio
//
// A ratio above 1 means that Hammr is faster than its rival. A result is the median over
// rounds with the range; goals are compared with the median.
package bench
