// Package raftlog is the jobmaster's Log on several machines: Raft, by
// hashicorp/raft, with its log in a bbolt file and its snapshots in files. No
// other package knows of Raft.
//
// Open gives a Log; the jobmaster takes its Events without delay and proposes
// while it leads; Close ends it. The directory of a Log belongs to one server of
// one cluster for ever.
//
//	            Propose                        Events
//	               │                             ▲ one at a time, unbuffered
//	               ▼                             │
//	a goroutine for each batch       FSM ────────┤ Committed, SnapshotWanted, Restored
//	               │                  ▲          │
//	               ▼                  │        herald: Leading, Following
//	             Raft: log, replication, elections ──► NotifyCh ──► drain
//
// The state lives in the jobmaster's loop and nowhere else: the FSM hands over
// what is committed, asks for a copy of the state when Raft wants a snapshot, and
// hands over the state that a snapshot brings.
//
// A lead is a time during which this server leads. The herald tells the
// jobmaster of it once a barrier has come through Raft, so everything committed
// before has been handed over. A batch belongs to the lead in which it was
// proposed and never enters the log in a later one; a batch that is handed over
// between Leading and Following was proposed in between. A batch that certainly never
// entered the log is tried again while its lead lasts. When the outcome is
// unknown, Raft has stepped down, and Following says so.
//
// Goroutines: those of Raft; drain, which takes from Raft's channel so that Raft
// never waits; the herald; the watchdog, which finds out that a lead makes no
// progress (a stalled disk keeps a leader alive without serving anybody) and ends
// it; the observer of heartbeats; and one for each batch under way. Close waits
// for all of them.
package raftlog
