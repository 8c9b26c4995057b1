// Package suspend measures what it costs to suspend a task and to resume it, against
// the memory that it holds: Fig. 8 of HFSP's paper.
//
//	cage, err := suspend.NewCage(dir, swapBytes) // a control group, and a swap file
//	samples, err := cage.Measure(ctx, footprint, pressed)
//	err = cage.Close()                           // nothing is left behind
//
// A task of a footprint fills its memory, is stopped, and another of the same size
// runs in its place. Where both fit (arm "kept") the stopped task's pages stay. Where
// they do not (arm "swapped"), the limit of the control group has the kernel write
// them to the swap file while the second one fills its memory, and read them again
// when the first goes on and touches them. The cost is what filling, and touching,
// take longer than by a task that is alone.
//
// Where the machine lets nobody set up swap or a control group, only the first arm is
// measured, and why is said. A Cage is used by one goroutine; tasks are processes of
// the program that uses this package, whose main calls Task first. They end with the
// context of Measure, and with Close.
package suspend
