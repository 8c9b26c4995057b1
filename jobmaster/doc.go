// Package jobmaster is the shell around package control: it feeds events to the
// controller, carries its commands through a Log, applies them to the replicated state,
// sends orders to tasknodes, and does the slow work of jobs (loading splits, setting up,
// committing and removing output).
//
// One loop owns the state, the controller and all tables. It gets everything as a
// message in its inbox or as an event of the log:
//
//	inbox, log, timer ──► events ──► control.Step ──► log, orders, work
//
// Goroutines: the loop, which is Run; one for each piece of slow work, which ends by
// putting its result into the inbox; and, while the master leads, one that watches the
// pool file and one that removes expired files. Run waits for all of them.
//
// The caller makes a Master with New, calls Run once, and calls the other methods from
// any goroutine. On a master that does not lead they return ErrNotLeader, on one whose
// Run has returned ErrStopped.
//
// Data lives in one of two places. What must survive the master goes through the log
// into cluster.State. What tasknodes report again by themselves (progress, the bytes of
// each partition) is kept beside the state, in one record for each job and one for each
// tasknode. A new leader starts with empty records.
package jobmaster
