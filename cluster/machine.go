package cluster

import "maps"

// Machine is a host with its tasknode.
//
// Invariants: Slots is Offered, or zero while the machine is lost, excluded or unhealthy. Used
// is the sum of the slots of all attempts that occupy a slot on the machine, and UsedMemoryMB
// the sum of their memory. Used exceeds Slots after the machine was excluded or its disks
// became full, and while attempts resume in order to move.
type Machine struct {
	Name     string   `cbor:"1,keyasint"`           // unique; the tasknode keeps it over restarts
	Instance string   `cbor:"2,keyasint,omitempty"` // of its tasknode; it differs after each start
	Address  string   `cbor:"3,keyasint,omitempty"` // address of its shuffle server; "" if every task can read its files locally
	HTTP     string   `cbor:"4,keyasint,omitempty"` // address of its page of metrics and logs; "" if it has none
	Rack     string   `cbor:"5,keyasint,omitempty"` // "" when unknown
	Hosts    []string `cbor:"6,keyasint,omitempty"` // names and addresses under which storage may know it
	Offered  Slots    `cbor:"7,keyasint"`           // slots that its tasknode offers
	Slots    Slots    `cbor:"-"`                    // offered slots that may be used: none while it is lost, excluded or unhealthy
	Used     Slots    `cbor:"-"`                    // slots in use; may exceed Slots after it was excluded

	MemoryMB     int64 `cbor:"8,keyasint,omitempty"` // memory that its tasks may take together, MiB; 0 for any amount
	UsedMemoryMB int64 `cbor:"-"`                    // memory of the attempts that occupy a slot, MiB

	Epoch    int   `cbor:"9,keyasint,omitempty"`  // how often it has joined; joins while it was not lost do not count
	Lost     bool  `cbor:"10,keyasint,omitempty"` // it has expired and not joined since
	LostAt   int64 `cbor:"11,keyasint,omitempty"` // when it last expired, ms since the epoch; 0 for never
	Excluded bool  `cbor:"12,keyasint,omitempty"` // it gets no new tasks; it runs those that it has and serves their output
	Draining bool  `cbor:"13,keyasint,omitempty"` // it is Excluded, and its tasks and output move to other machines

	// UntilRestart says that the next start of its tasknode ends the exclusion. It is Draining
	// then.
	UntilRestart bool `cbor:"14,keyasint,omitempty"`

	// DrainDeadline is when a user expects the draining to be over, ms since the epoch; 0 for never.
	// It is for readers: nothing happens then.
	DrainDeadline int64 `cbor:"15,keyasint,omitempty"`

	// Unhealthy says why it gets no new tasks for now, "" if it is healthy. Unlike Excluded, no
	// user has asked for it: it ends when the machine works again.
	Unhealthy string `cbor:"16,keyasint,omitempty"`

	// FreeSince is when the number of free slots of a kind last rose above 0. It means
	// nothing while no slot is free.
	FreeSince [slotKinds]int64 `cbor:"17,keyasint,omitzero"`

	Attempts []*Attempt `cbor:"-"` // attempts whose processes are on the machine, in order of start

	Unread      []unread `cbor:"18,keyasint,omitempty"` // the latest machines that got no answer from it; at most suspectedReaders, replaced as a whole
	Suspicion   string   `cbor:"19,keyasint,omitempty"` // why all jobs avoid it, until suspicionMillis after SuspectedAt; "" for never
	SuspectedAt int64    `cbor:"20,keyasint,omitempty"` // ms since the epoch; 0 for never

	index int       // its index in State.Machines
	data  dataIndex // tasks whose output or checkpoint may lie on it
}

// FirstOverSuspended returns the first machine that would have more suspended attempts than
// slots, if these attempts were suspended; nil if there is none. Other attempts are about to
// be suspended too: planned counts them by machine.
func (v View) FirstOverSuspended(attempts []*Attempt, planned map[string]Slots) *Machine {
	suspending := maps.Clone(planned)
	if suspending == nil {
		suspending = make(map[string]Slots)
	}
	for _, a := range attempts {
		m, n := v.Machine(a.Machine), suspending[a.Machine]
		n[a.Slot]++
		suspending[a.Machine] = n
		if m.suspendedCount(a.Slot)+n[a.Slot] > m.Offered[a.Slot] {
			return m
		}
	}
	return nil
}

// FirstFullDisk returns the first machine of a gang that offers no slots because its disks
// are full; nil if there is none, or if the attempt started alone. An attempt that runs
// alone declines a checkpoint that does not fit, and continues. An attempt of a gang cannot
// continue: it has ended its streams to the others by then.
func (v View) FirstFullDisk(together []*Attempt) *Machine {
	if len(together) == 1 {
		return nil
	}
	for _, a := range together {
		if m := v.Machine(a.Machine); m.Offered.IsZero() {
			return m
		}
	}
	return nil
}

// suspendedCount returns the number of processes of a kind of slot that are stopped on the
// machine.
func (m *Machine) suspendedCount(kind Slot) (n int) {
	for _, a := range m.Attempts {
		if a.InMemory() && a.Slot == kind {
			n++
		}
	}
	return n
}

// FreeSlots returns the slots that can be given out.
func (m *Machine) FreeSlots() Slots { return m.Slots.Minus(m.Used).AtLeast(Slots{}) }

// Free returns how many slots of a kind are free; negative while more are in use than may
// be.
func (m *Machine) Free(kind Slot) int { return m.Slots[kind] - m.Used[kind] }

// TakesTasks reports whether the machine may get new tasks.
func (m *Machine) TakesTasks() bool { return !m.Lost && !m.Excluded && m.Unhealthy == "" }

// usableSlots computes Slots.
func (m *Machine) usableSlots() Slots {
	if !m.TakesTasks() {
		return Slots{}
	}
	return m.Offered
}
