// Package raftlog implements the jobmaster's Log on several machines by Raft
// (hashicorp/raft). The log is in a bbolt file and snapshots are in files. No other package
// depends on Raft.
//
// Restore and Recover make the directory of a server from a backup, or of one that is left of a
// cluster, while the server does not run.
//
// Open returns a Log; the jobmaster takes its Events without delay and proposes while it
// leads; Close ends it. The directory of a Log belongs to one server of one cluster for
// ever.
//
//	            Propose                        Events
//	               │                             ▲ one at a time, unbuffered
//	               ▼                             │
//	a goroutine for each batch       FSM ────────┤ Committed, SnapshotWanted, Restored
//	               │                  ▲          │
//	               ▼                  │     announceLeads: Leading, Following
//	             Raft: log, replication, elections ──► NotifyCh ──► drainNotify
//
// Only the jobmaster's loop has the state. The FSM passes committed batches to the loop.
// When Raft takes a snapshot, the FSM requests a copy of the state from the loop. When Raft
// restores a snapshot, the FSM passes its state to the loop.
//
// A lead is a period during which this server leads. Leading is emitted after a barrier has
// passed through Raft, so all batches committed before have been emitted. A batch belongs
// to the lead in which it was proposed and never enters the log in a later lead. So every
// batch that is emitted between Leading and Following was proposed between them. If a batch
// has certainly not entered the log, it is tried again until its lead is over. If the
// outcome is unknown, Raft has stepped down, and Following is emitted.
//
// Goroutines: Raft has its own. drainNotify receives from Raft's channel, so that Raft never
// waits. announceLeads emits Leading and Following. The watchdog ends a lead that makes no
// progress: a leader whose disk stalls cannot serve, but Raft elects no other. One goroutine
// observes failed heartbeats, and each batch in progress has one. Close waits for all.
package raftlog
