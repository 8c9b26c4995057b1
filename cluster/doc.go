// Package cluster is the replicated truth: which jobs, tasks, attempts and
// machines there are, and what became of them.
//
// A State changes in one way only. A Command, wrapped in an Entry, is applied;
// Apply either refuses it and changes nothing, or changes the state and says in
// a Delta what changed:
//
//	delta, err := state.Apply(cluster.Entry{At: now, Command: cluster.KillJob{…}})
//
// Applying the same entries in the same order gives the same state everywhere:
// no clock is read (times come with the entries), no random number drawn, no
// float used, no map ranged over in its own order. Each verb has a file,
// apply_<verb>.go.
//
// The caller serialises Apply, Load and all reading through a View. There is no
// frozen copy that could be read beside Apply.
//
// Three kinds of facts are kept apart. What Apply changes is replicated. What
// Load brings (the splits' ranges and hosts) follows from a file that the job
// names by its hash, so every replica that has loaded it has the same. Facts
// that change by themselves, such as progress, are not here at all.
//
// A task's life:
//
//	pending ──StartAttempt──► running ──FinishAttempt──► succeeded
//	   ▲                       │  │                          │
//	   ├──FailAttempt, machine─┘  └─CheckpointAttempt─► paused│ (starts like pending)
//	   └──LoseOutput, ExpireMachine──────────────────────────┘
//
// An attempt has a verdict (running, succeeded, failed, killed, preempted) and,
// apart from it, a place: it holds its slot until its machine says that it is
// gone, whatever the verdict. So no slot is given out twice.
package cluster
