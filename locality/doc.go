// Package locality says which tasks go to which machines, so that they read
// what lies near. It knows machines, hosts, racks and bytes as plain values;
// who may have how many slots is the caller's matter.
//
//	topology := locality.NewTopology(table)       // hosts and their racks
//	topology.Join(machine)                        // for each machine there is
//	starts := topology.Flow(machines, demands)    // who starts where, now
//
// Flow is the placement of Hammr ("Hammr: a MapReduce engine over DAGs of
// NodeGroups", section on scheduling: a min-cost flow from the NodeGroups of a
// bundle over launchers to a sink, with an arc for staying unscheduled), with
// the levels and aggregate nodes of Quincy (Isard et al., "Quincy: fair
// scheduling for distributed computing clusters", SOSP 2009, section 4):
//
//	task ──► machine that holds its input, or
//	  │      what it has done so far ─────────► sink, an arc a step of load
//	  ├────► rack that does ──► its machines      ▲
//	  ├────► anywhere ──► racks                   │
//	  └────► stays ───────────────────────────────┘
//
// An arc costs the bytes that travel times the distance: none on the machine,
// one within the rack, two across racks. A task that was paused costs nothing on the
// machine that has what it has done so far, its Home, however far its input is.
// Elsewhere that travels too, and counts as much as what it reads. Among placements that move as little,
// those win that load machines evenly, and after that machines and tasks that
// come first in the arguments. The same arguments give the same placement.
//
// Bundles places gangs: groups that talk to each other all the time and start
// together or not at all. Spread places tasks that are as well off everywhere,
// and reduces. Delay is delay scheduling (Zaharia et al., "Delay scheduling: a
// simple technique for achieving locality and fairness in cluster scheduling",
// EuroSys 2010, section 4), the alternative, and InOrder is blind to places,
// which is what the others are measured against.
//
// Nothing here has a clock, does I/O or starts a goroutine. A Topology is used
// by one goroutine at a time.
package locality
