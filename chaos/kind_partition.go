package chaos

import "context"

// notIsolated is why faults of networks and disks are refused on a cluster of a hostfile.
const notIsolated = "its daemons have no networks and disks that are the drill's to break"

// partition cuts a daemon off from all others: packets vanish, and connections stay open.
// A machine is cut off with its tasks, since they share the network of their tasknode. A
// DataNode is cut off from its NameNode only, by a forwarder between them. In the
// simulator a tasknode neither sends nor receives, and its tasks run on.
var partition = KindSpec{
	Kind: Partition, Targets: []Role{Tasknode, Jobmaster, DataNode, Machine}, Lasts: true,

	Inject:   func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.Partition(daemon) },
	Undo:     func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.Heal(daemon) },
	Silences: true, NeedsNetwork: true, NotOnHosts: notIsolated,

	SimulateMachine: func(s Simulation, f Fault, machine int) error {
		f.atEnd(s, s.Partition(machine))
		return nil
	},
	SimulateMaster: isolateMaster,
}
