// Package jobmaster runs the controller of package control. It passes events to the
// controller, writes the controller's commands to a Log, and applies committed commands to
// the replicated state. It sends orders to tasknodes, and does the slow work of jobs:
// loading splits, setting up, committing and removing output.
//
// One loop owns the state, the controller and all tables. All its input is messages in its
// inbox and events of the log:
//
//	inbox, log, timer ──► events ──► control.Step ──► log, orders, work
//
// Goroutines: Run is the loop. Each piece of slow work has a goroutine, which finally puts
// its result into the inbox. While the master leads, one goroutine watches the pool file
// and one removes expired files. Run waits for all of them.
//
// The caller makes a Master with New, calls Run once, and calls the other methods from any
// goroutine. They return ErrNotLeader if the master does not lead, and ErrStopped if Run
// has returned.
//
// Data that must not be lost with the master is written to the log and is in cluster.State.
// Data that tasknodes report again by themselves (progress, the bytes of each partition) is
// beside the state, in one record for each job and one for each tasknode. A new leader
// starts with empty records.
package jobmaster
