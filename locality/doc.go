// Package locality assigns tasks to machines so that they read nearby data. It works on
// plain values: machines, hosts, racks and bytes. The caller decides how many slots each job
// may use.
//
//	topology := locality.NewTopology(table)       // hosts and their racks
//	topology.Add(machine)                         // for each machine
//	starts := topology.Flow(machines, demands)    // which task starts where, now
//
// Flow is the placement of the Hammr paper ("Hammr: a MapReduce engine over DAGs of
// NodeGroups", section on scheduling): a min-cost flow from the NodeGroups of a bundle over
// launchers to a sink, with an arc for staying unscheduled. Its levels and aggregate
// vertices are those of Quincy (Isard et al., "Quincy: fair scheduling for distributed
// computing clusters", SOSP 2009, section 4):
//
//	task ──► machine with its input or
//	  │      its checkpoint ───────────────────► sink, an arc per load step
//	  ├────► rack with its input ──► machines     ▲
//	  ├────► anywhere ──► racks                   │
//	  └────► stays unscheduled ───────────────────┘
//
// The cost of an arc is the bytes that are transferred times the distance: 0 on the machine,
// 1 within the rack, 2 across racks. A checkpointed task costs nothing on the machine of its
// checkpoint, wherever its input is. Elsewhere the checkpoint is transferred too, and counts
// as much as the input. Of placements with equal transfer, Flow prefers placements that load
// machines evenly, and then the machines and tasks that come first in the arguments. The
// same arguments produce the same placement.
//
// GangPlacer places gangs: groups that communicate all the time and start together or not at
// all. Spread places reduces and other tasks that have no preferred machine. Delay is the
// alternative to flow: delay scheduling (Zaharia et al., "Delay scheduling: a simple
// technique for achieving locality and fairness in cluster scheduling", EuroSys 2010,
// section 4). InOrder ignores locality; it is the baseline for measurements.
//
// The package does no I/O, reads no clock and starts no goroutine. A Topology is used by one
// goroutine at a time.
package locality
