// Package failpoint lets drills break a daemon and its tasks from inside: named points of
// the code fail, wait or crash, local files become slow or fail, and the clock jumps. It has
// an effect only in daemons that were started for drills. In other processes each point
// costs one atomic load.
//
//	drills, err := failpoint.Open(dir)            // in a daemon, before it opens files
//	err = drills.Set("task/spill", "crash@3")     // the third spill from now on
//	...
//	if err := failpoint.Hit(failpoint.TaskSpill); err != nil {
//		return err
//	}
//
// The faults are in a page of memory that is backed by a file of the daemon. Its tasks map
// the same file (Join), so a fault reaches all of them at once. Their hits count together:
// the third spill is the third on that machine, whichever task spills. The page ends with
// its daemon.
//
// A process has at most one such page. Open or Join must be called before other code of the
// process runs. There are no goroutines.
package failpoint
