// Package bench compares Hammr, on the same files and in alternation, with
// programs that do nothing but the work: a hand-written wordcount and sort (the
// yardstick), GNU sort and the coreutils.
//
// A Contest has two Entries, ours and a rival, and an Input. Both run once
// unmeasured, which warms the page cache, and what they wrote is compared: a
// fast wrong answer does not count. Then they take turns, and who begins a
// round changes. Each turn is two runs, of which the second is measured, so that
// both find the memory that they themselves have just released: a virtual
// machine whose host takes back free pages makes the first touch of a page cost
// up to ten times a later one, and what the rival left would decide. Config.Cold
// leaves the first run out. The machine's mood changes over minutes by more than the
// difference between programs, so the figure that counts is the median of the
// rounds' ratios, rival's time over ours; times and MB/s are there to be
// understood, not to be compared with those of another day.
//
// Processes are measured from outside: wall-clock time from start to exit, and
// from rusage the CPU time and the peak resident memory of their largest
// process. Output is not synced, and removed after each turn.
//
//	err := bench.Run(ctx, bench.Config{Cases: []string{"terasort*"}, Rounds: 5})
package bench
