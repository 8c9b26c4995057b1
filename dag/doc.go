// Package dag describes a job as a graph, and how the graph runs. It does no I/O and imports
// nothing of the project.
//
// A Graph has stages of Nodes. Its edges have channels that carry records from one stage to
// another: files, TCP streams, or the memory of a process. MapReduce is one such graph. The
// Layout follows from the channels: Nodes that are joined by shared memory are a NodeGroup,
// which is one process on one machine. NodeGroups that are joined by TCP are a Bundle, a
// gang that starts as a whole.
//
//	split ══shm══> combine ──file──> sum ~~tcp~~> serve
//	└── NodeGroup ───────┘           └ group     └ group
//	└── bundle ──────────┘           └── bundle ──────┘
//
// A bundle starts when every bundle whose files it reads is complete. The files of a bundle
// are complete when all its groups have finished. A gang that loses a member can therefore
// start over, because no other bundle has read its files. For the same reason a graph is
// refused if a bundle would wait for itself.
//
// The package also has the ranges of input that Nodes read: Position and Range.
//
// Section 3 of "Locality-aware fair scheduling for Hammr" defines the terms and rules. The
// operators on graphs are from Isard et al., "Dryad: Distributed Data-Parallel Programs from
// Sequential Building Blocks", EuroSys 2007: >= is OneToOne, >> is AllToAll.
package dag
