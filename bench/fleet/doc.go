// Package fleet tests and measures masters with thousands of machines on one computer.
//
//	masters, err := rig.Start(ctx, rig.Config{…, MastersOnly: true})
//	machines, err := fleet.Start(fleet.Config{Masters: masters.Addresses(), …})
//	defer machines.Close()
//	id, err := machines.Submit(ctx, client, fleet.Job{Maps: 1000, Reduces: 10, Map: fleet.Span{…}})
//
// The masters are real processes with Raft and fsync. The machines are fakes in this
// process: each has its own connection and address on the loopback network, and speaks the
// protocol of tasknodes, but a task is only a timer.
//
//	hammr bench fleet                          hammr jobmaster × 3
//	  machine 1 ─ loop ── masterlink ── TCP ──┐
//	  machine 2 ─ loop ── masterlink ── TCP ──┼──► leader ── Raft ── followers
//	  …                                       │
//	  scenario ── client/remote ─────────────┘
//
// The Ledger records every attempt that a machine starts or ends. An attempt may run again
// only if the ledger has a cause for the end of the attempt before it: a failure that the
// job asked for, a machine that crashed, or one that was silent for too long. So the verdict
// of a scenario does not depend on what the masters say about themselves.
//
// The masters are those of a chaos rig. So the scenario mixed is a drill: it injects faults into
// masters under the load of a fleet. Attach joins a fleet to any testcluster.Cluster.
//
// Goroutines: each machine has a loop, which owns its tables, and one for its session.
// Scenarios run in the caller's goroutine, with one for each job that is watched.
package fleet
