// Package disks looks after the local directories of a tasknode: which of them
// can be written, how much room each has, and where the next attempt goes.
//
//	set, err := disks.Open(disks.Config{Dirs: dirs, MinFree: 1 << 30})
//	go set.Run(ctx)                        // looks again every Interval
//	dir, release, err := set.Take()        // for one attempt
//	…
//	release()                              // it runs no more
//
// Each directory is on a disk of its own as far as this package is concerned. A
// directory is in one of three conditions:
//
//	in use ──► out of order: a write fails, or does not end
//	   ▲  └──► too full: less than MinFree is left; what is there is served
//	   └─────  both are found out, and found to be over, by looking again
//
// A directory belongs to one tasknode, which holds a lock on it. One that is out
// of order when the tasknode starts is taken possession of when it comes back;
// what lies in it then is of no use to anybody and is removed.
//
// Goroutines: Run has one for each directory, so that a disk that hangs holds up
// nobody but itself, and waits for them.
package disks
