// Package failpoint lets drills break a daemon and its tasks from inside: named
// points of the code fail, wait or crash, local files become slow or fail, and the
// clock jumps. Nothing of it is there unless a daemon was told to take part in
// drills; then each point costs one atomic load.
//
//	drills, err := failpoint.Open(dir)            // in a daemon, before it opens files
//	err = drills.Set("task/spill", "crash@3")     // the third spill from now on
//	...
//	if err := failpoint.Hit(failpoint.TaskSpill); err != nil {
//		return err
//	}
//
// What is to fail stands in a page of memory that is a file of the daemon. Its
// tasks map the same file (Join), so they hear of everything at once, and all of
// them count together: the third spill is the third on that machine, whichever
// task spills. The page goes with its daemon.
//
// A process has one such page at most, which Open or Join sets before anything
// else of the process runs. There are no goroutines.
package failpoint
