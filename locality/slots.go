package locality

import "github.com/hammr/hammr/dag"

// MachineSlots is the slots of a machine.
type MachineSlots struct {
	Free dag.Slots // available for assignment
	Used dag.Slots // occupied
}

// Group is tasks that run together in slots of one machine.
type Group struct {
	Task
	Slots dag.Slots // at least one
}
