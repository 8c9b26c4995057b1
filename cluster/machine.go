package cluster

import "maps"

// Machine is a tasknode.
type Machine struct {
	Name     string
	Instance string         // of its tasknode, another one after each start
	Address  string         // of its shuffle server, "" when its files are local to every task
	HTTP     string         // of its page of metrics and logs, "" when it has none
	Rack     string         // "" when unknown
	Hosts    []string       // names and addresses under which storage may know it
	Offered  [slotKinds]int // slots that its tasknode has
	Slots    [slotKinds]int // of them that may be given out: none while it is lost or excluded
	Used     [slotKinds]int // slots held; more than Slots when it was excluded in the midst of work
	Epoch    int            // how often it has joined, not counting what it told anew while it was there
	Lost     bool           // it has expired and not joined since
	LostAt   int64          // when it last expired, ms since the epoch; 0 for never
	Excluded bool           // it is to take no new tasks; what it runs goes on and its output is served
	Draining bool           // it is Excluded, and what it runs and holds is to go elsewhere

	// FreeSince is when a slot of a kind last became free while none was: for
	// so long one at least is free. It means nothing while none is.
	FreeSince [slotKinds]int64

	Attempts []*Attempt // that are there, in order of start: those that hold slots, and suspended ones

	index int // in State.machines
}

func plus(a, b [slotKinds]int) [slotKinds]int {
	for kind := range a {
		a[kind] += b[kind]
	}
	return a
}

func minus(a, b [slotKinds]int) [slotKinds]int {
	for kind := range a {
		a[kind] -= b[kind]
	}
	return a
}

// hasSlots reports whether a machine has so many slots free beside those that are
// taken already.
func (m *Machine) hasSlots(slots, taken [slotKinds]int) bool {
	return fit(slots, minus(m.Slots, plus(m.Used, taken)))
}

// hasSlotsToResume is hasSlots for what stands still on the machine. One that takes no new
// tasks still has the slots for what it was given before.
func (m *Machine) hasSlotsToResume(slots, taken [slotKinds]int) bool {
	return !m.Lost && fit(slots, minus(m.Offered, plus(m.Used, taken)))
}

// fit reports whether slots that are wanted are among those that there are. There may
// be fewer than none of a kind.
func fit(wanted, there [slotKinds]int) bool {
	for kind, n := range wanted {
		if n > 0 && there[kind] < n {
			return false
		}
	}
	return true
}

// FirstOverSuspended is the first machine on which more attempts would stand still than it has
// slots for, if these did so too; nil when there is none. Beside is how many others
// are about to, by machine.
func (v View) FirstOverSuspended(attempts []*Attempt, beside map[string][slotKinds]int) *Machine {
	still := maps.Clone(beside)
	if still == nil {
		still = make(map[string][slotKinds]int)
	}
	for _, a := range attempts {
		m, n := v.Machine(a.Machine), still[a.Machine]
		n[a.Slot]++
		still[a.Machine] = n
		if m.suspendedCount(a.Slot)+n[a.Slot] > m.Offered[a.Slot] {
			return m
		}
	}
	return nil
}

// FirstFullDisk is the first machine with a task of a gang that takes no tasks for want of room
// on its disks; nil when there is none, and for attempts that started alone, which go on
// as if nothing had been asked of them when a checkpoint finds no room. One of a gang
// that reads from others cannot: they have ended their streams by then.
func (v View) FirstFullDisk(together []*Attempt) *Machine {
	if len(together) == 1 {
		return nil
	}
	for _, a := range together {
		if m := v.Machine(a.Machine); m.Offered == [slotKinds]int{} {
			return m
		}
	}
	return nil
}

// suspendedCount is how many attempts of a kind of slot are suspended on the machine.
func (m *Machine) suspendedCount(kind Slot) (n int) {
	for _, a := range m.Attempts {
		if a.InMemory() && a.Slot == kind {
			n++
		}
	}
	return n
}

// Free is how many slots of a kind can be given out.
func (m *Machine) Free(kind Slot) int { return m.Slots[kind] - m.Used[kind] }

// usableSlots are what Slots has to be.
func (m *Machine) usableSlots() [slotKinds]int {
	if m.Lost || m.Excluded {
		return [slotKinds]int{}
	}
	return m.Offered
}
