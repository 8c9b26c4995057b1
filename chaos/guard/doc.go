// Package guard injects faults into the machine on which it runs, and ends them in time.
//
// A guard is a process of the machine with a session of its own, so that it outlives the
// connection and the program that wanted the fault:
//
//	inject ─► record in DIR/faults ─► the fault ── limit, Undo ─► undone ─► record removed
//	            └── the guard is killed: the next Inject, Undo or List undoes it
//
// DIR is the directory of a hostfile. Everything that a guard touches lies below it, except
// the packets of the network. Packets from and to the port of ssh are never touched:
//
//	what                             how
//	partitions, loss                 tc: filters at clsact, programs of classic BPF
//	delay, bandwidth                 tc: htb, and netem for the delay
//	full disk                        a file that takes the free space of DIR's file system
//	corrupt segment                  a byte of a tasknode's file
//	kill, stop                       signals to what runs below DIR; what was killed is
//	                                 started again with its command line and environment
//
// Records are changed only by the holder of DIR/faults/lock. A guard has no goroutines.
package guard
