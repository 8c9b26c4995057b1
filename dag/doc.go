// Package dag describes what a job does as a graph, and how that graph runs. It
// is pure: it does no I/O and imports nothing of the project.
//
// A Graph has stages of Nodes, and edges whose channels carry records from one
// stage to another: files, TCP streams, or the memory of a process. MapReduce is
// one such graph. From the channels follows the Layout: Nodes joined by shared
// memory are a NodeGroup, one process on one machine; NodeGroups joined by TCP
// are a NodeGroupBundle, a gang that starts as a whole.
//
//	split ══shm══> combine ──file──> sum ~~tcp~~> serve
//	└── NodeGroup ───────┘           └ group     └ group
//	└── bundle ──────────┘           └── bundle ──────┘
//
// A bundle starts when every bundle whose files it reads has made them. The
// files that a bundle makes count as made when all of its groups have finished,
// so a gang that loses a member starts anew without taking anything back. A
// graph is therefore refused when a bundle would wait for itself.
//
// Also here are the ranges of input that Nodes own: Position and Range.
//
// Words and rules are those of section 3 of "Locality-aware fair scheduling for
// Hammr"; the operators on graphs come from Isard et al., "Dryad: Distributed
// Data-Parallel Programs from Sequential Building Blocks", EuroSys 2007: >= is
// OneToOne, >> is AllToAll.
package dag
