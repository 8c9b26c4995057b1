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
// four states, which each probe determines again:
//
//	in use ──► broken: a write fails, or does not end within WriteTimeout
//	       ──► full:   less than MinFree is free; files in it are still served
//	       ◄── the next probe succeeds
//	       ──► slow:   SlowProbes probes in a row took longer than SlowProbe
//	       ◄── as many took at most half of SlowProbe
//
// A slow directory gets no attempts as long as another is in use. If all directories that
// work are slow, they are used.
//
// A tasknode locks its directories, so that no two tasknodes share one. A directory
// that is broken when the tasknode starts is locked when it recovers. The tasknode
// does not know the jobs in it, so they are removed.
//
// Goroutines: Run has one for each directory, so that a disk that hangs delays no
// other. Run waits for them.
package disks
