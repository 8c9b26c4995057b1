// Package jobmaster is the body around the brain: it feeds package control with
// events, carries its commands through a Log, applies them, sends orders to
// tasknodes, and does the work for jobs that takes time (loading splits, setting
// up, committing and removing output).
//
// One loop owns the state, the controller and all tables. Everything comes to it
// as a message in its inbox, or as a batch from the log:
//
//	inbox, log, timer ──► events ──► control.Step ──► log, orders, work
//
// Goroutines: the loop, which is Run; and one for each piece of work, which ends
// by putting its result into the inbox. Run waits for them.
//
// A fact has one of two homes. What must survive the master goes through the
// log into cluster.State. What tasknodes tell again by themselves (progress,
// the bytes of each partition) is kept beside it, in a record for each job.
package jobmaster
