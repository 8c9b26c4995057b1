// Package disks manages the local directories of a tasknode: which of them can be
// written, how much space each has, and which one the next attempt gets.
//
//	set, err := disks.Open(disks.Config{Dirs: dirs, MinFree: 1 << 30})
//	go set.Run(ctx)                        // probes each directory every Interval
//	dir, release, err := set.Acquire()     // for one attempt
//	…
//	release()                              // after the attempt has ended
//
// The package treats each directory as a disk of its own. A directory is in one of
// three states, which each probe determines again:
//
//	in use ──► broken: a write fails, or does not end within WriteTimeout
//	       ──► full:   less than MinFree is free; files in it are still served
//	       ◄── the next probe succeeds
//
// A tasknode locks its directories, so that no two tasknodes share one. A directory
// that is broken when the tasknode starts is locked when it recovers. The tasknode
// does not know the jobs in it, so they are removed.
//
// Goroutines: Run has one for each directory, so that a disk that hangs delays no
// other. Run waits for them.
package disks
