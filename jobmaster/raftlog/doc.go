// Package raftlog is the jobmaster's Log on several machines: Raft, by hashicorp/raft,
// with its log in a bbolt file and its snapshots in files. No other package depends on
// Raft.
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
// The state lives in the jobmaster's loop and nowhere else. The FSM passes on what is
// committed, asks for a copy of the state when Raft wants a snapshot, and passes on the
// state that a snapshot brings.
//
// A lead is a period during which this server leads. Leading is emitted once a barrier
// has passed through Raft, so everything committed before has been emitted. A batch
// belongs to the lead in which it was proposed and never enters the log in a later one:
// every batch that is emitted between Leading and Following was proposed there. A batch
// that certainly did not enter the log is tried again while its lead lasts. If the
// outcome is unknown, Raft has stepped down, and Following says so.
//
// Goroutines: those of Raft; drainNotify, which takes from Raft's channel so that Raft
// never waits; announceLeads; the watchdog, which ends a lead that makes no progress (a
// stalled disk keeps a leader alive that cannot serve); the observer of failed
// heartbeats; and one for each batch under way. Close waits for all of them.
package raftlog
