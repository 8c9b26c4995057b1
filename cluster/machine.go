package cluster

// Machine is a tasknode.
type Machine struct {
	Name    string
	Address string   // of its shuffle server, "" when its files are local to every task
	Hosts   []string // names and addresses under which storage may know it
	Slots   [slotKinds]int
	Used    [slotKinds]int // slots held; each at most Slots
	Epoch   int            // how often it has joined

	Attempts []*Attempt // that hold a slot, in order of start

	index int // in State.machines
}

// Free is how many slots of a kind can be given out.
func (m *Machine) Free(kind Slot) int { return m.Slots[kind] - m.Used[kind] }
