// Package board has what every master knows of jobs, tasks and attempts, in a form for readers:
// pages, REST and metrics.
//
//	committed entry ──► cluster.State.Apply ──► Board.Commit: rows that have changed     (the loop)
//	                                                  │
//	                              Board.Snapshot ◄────┘ rows are shared, never copied    (readers)
//
// The loop of a master calls Commit after each entry, with the delta of the entry. Its cost
// depends on what the entry has changed, not on the size of the cluster. Readers call Snapshot
// in their own goroutines and read as long as they like. They never enter the loop, and the loop
// does nothing for them: a snapshot is made when a reader asks for it, at most four times in a
// second, and only of jobs that have changed. So if there is no reader, there is no snapshot.
//
// Sample, which is called once a second, keeps the use of slots by pool for 24 hours. Its cost is
// linear in the jobs and stages that are not over.
//
// All masters apply the same entries, so all have the same board, and followers answer readers
// as the leader does. The state does not keep events and the places of attempts. So a master
// knows them only from the entry on with which it has started: after Restore, there are none.
package board
