package chaos

import "context"

// UnreachableFiles is why faults that touch files of tasks are refused on a cluster of a
// hostfile.
const UnreachableFiles = "the files of its tasks are out of reach"

// corrupt changes one byte in a segment of a finished map, as a bad disk does. A reduce
// that reads it sees a wrong checksum, and the map runs again. Nothing undoes it.
var corrupt = KindSpec{
	Kind: Corrupt, Targets: []Role{Tasknode}, unprivileged: true,

	Inject: func(_ context.Context, lab Lab, _ Fault, daemon string) error { return lab.CorruptSegment(daemon) },
	// It needs the tasknode's directory on this machine.
	NotOnHosts: UnreachableFiles,

	SimulateMachine: func(s Simulation, _ Fault, machine int) error {
		if !s.CorruptOutput(machine) {
			return ErrNoTarget
		}
		return nil
	},
}
