// Package suspend measures what it costs to suspend a task and to resume it, against
// the memory that it holds: Fig. 8 of HFSP's paper.
//
//	samples, err := suspend.Run(ctx, suspend.Config{SwapDir: dir, Footprints: bytes, Rounds: 5, Task: task, Logf: log.Printf})
//	costs := suspend.CostsOf(samples)
//
// A task fills its memory and is stopped, and another of the same size runs in its place.
// If both fit (arm "kept"), the pages of the stopped task stay. If not (arm "swapped"),
// the limit of the control group makes the kernel write them to the swap file while the
// second task fills its memory, and read them again when the first resumes and touches
// them. The cost is the extra time for filling and touching, compared with a task that
// runs alone.
//
// If swap or a control group cannot be set up, only the first arm is measured, and Run
// logs the reason. Tasks are processes that call RunTask; they end with the context of Run.
//
// Times are wall-clock times of the task process itself. The task writes random bytes,
// which zswap and zram cannot compress. Footprints are in bytes, and the limit of the group
// leaves 64 MiB for a process beyond its footprint.
package suspend
