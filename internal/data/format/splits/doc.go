// Package splits divides the files of a job's input into splits, one for each map task, and
// reads the parts of a split one after another.
//
// Files are divided as Hadoop's FileInputFormat divides them: at multiples of max(MinSize,
// min(MaxSize, block size)), with a last piece of up to 1.1 times this size. In addition,
// neighbouring small files are combined into one split, so that a directory of small files
// does not cost a task for each file. The order of files and bytes is kept; the order of
// equal keys depends on it.
//
//	file of 2.05 blocks    │ split │ split (1.05) │
//	small files            │ f1 f2 f3 │ f4 f5 │
//
// The division does not depend on the hosts of the blocks. Looking up the hosts of many
// files takes long, so Locate may do it while the job already runs.
package splits
