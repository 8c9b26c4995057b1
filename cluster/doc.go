// Package cluster is the replicated state of a cluster: its jobs, tasks, attempts and
// machines, and what became of them.
//
// A State changes in one way only. The caller applies a Command, wrapped in an Entry.
// Apply either refuses it and changes nothing, or changes the state and returns a
// Delta of what changed:
//
//	delta, err := state.Apply(cluster.Entry{At: now, Command: cluster.KillJob{…}})
//
// The same entries in the same order give the same state on every master: no clock is
// read (entries carry the time), no random number drawn, no float used, and no result
// depends on the order of a map. The commands are in the files apply_….go. If Apply panics,
// ApplyContained fails the job that was being changed.
//
// The caller serialises Apply, Load and all reading through a View. There is no frozen
// copy that could be read during Apply.
//
// There are three kinds of information. What Apply changes is replicated. What Load
// adds (ranges and hosts of splits) follows from a file that the job names by its hash.
// Only the leader loads it, and what Apply replicates does not depend on it. What changes
// continuously, such as progress, is not in this package.
//
// A task's states:
//
//	pending ──StartAttempt──► running ──FinishAttempt──► succeeded
//	   ▲                       │  │                          │
//	   ├──FailAttempt, machine─┘  └─CheckpointAttempt─► checkpointed (starts like pending)
//	   │   lost                                              │
//	   └──LoseOutput, ExpireMachine──────────────────────────┘
//
// The states of an attempt are at AttemptState.
package cluster
