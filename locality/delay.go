package locality

import "slices"

// Delay is delay scheduling: a free slot waits for a task that is local to it
// before it takes one from the rack, and longer before it takes any. Waits are
// counted from when the slot became free, in ms.
type Delay struct {
	MachineWait int64 // before tasks of the rack are taken
	RackWait    int64 // after that, before any are
}

// Level is how far a task may be from its input on a slot that has waited.
func (d Delay) Level(waited int64) Level {
	switch {
	case waited >= d.MachineWait+d.RackWait:
		return Remote
	case waited >= d.MachineWait:
		return RackLocal
	}
	return MachineLocal
}

// Remaining is for how long a slot that has waited still takes what it does, 0 for
// ever.
func (d Delay) Remaining(waited int64) int64 {
	switch d.Level(waited) {
	case MachineLocal:
		return d.MachineWait - waited
	case RackLocal:
		return d.MachineWait + d.RackWait - waited
	}
	return 0
}

// Nearest places tasks of one demand as delay scheduling does: machine by
// machine, each taking the first task on it, then those of its rack as far as
// allowed says, then any. Tasks are as good as local on their Home, which goes before
// what has their input, and if they read no blocks.
func (t *Topology) Nearest(machines []Machine, allowed []Level, demand Demand) []Start {
	n := &nearest{
		machineIndex: newMachineIndex(t, machines), demand: demand, allowed: allowed,
		byHome: make([][]int, len(machines)), byMachine: make([][]int, len(machines)), taken: make([]bool, len(demand.Tasks)), free: make([]int, len(machines)),
	}
	n.byRack = make([][]int, len(n.racks))
	for i, m := range machines {
		n.free[i] = m.Free
	}
	n.index()
	for i := range machines {
		n.take(i, MachineLocal, n.byHome[i])
	}
	for i := range machines {
		n.take(i, MachineLocal, n.byMachine[i])
	}
	for i := range machines {
		n.take(i, MachineLocal, n.anywhere)
	}
	for i := range machines {
		n.take(i, RackLocal, n.byRack[n.rackOf[i]])
	}
	for i := range machines {
		n.take(i, Remote, n.all)
	}
	return n.starts
}

// nearest is one call of Nearest under way.
type nearest struct {
	*machineIndex
	demand  Demand
	allowed []Level
	free    []int // by machine
	taken   []bool
	avoid   [][]int // by task, machines
	starts  []Start

	byHome, byMachine, byRack [][]int // tasks, in order
	anywhere, all             []int
}

func (n *nearest) index() {
	for i, t := range n.demand.Tasks {
		if m, ok := n.byName[t.CheckpointOn]; ok {
			n.byHome[m] = append(n.byHome[m], i)
		}
		_, machines, racks := n.inputBytes(t)
		for _, s := range machines {
			n.byMachine[s.place] = append(n.byMachine[s.place], i)
		}
		for _, s := range racks {
			n.byRack[s.place] = append(n.byRack[s.place], i)
		}
		n.avoid = append(n.avoid, n.avoided(n.demand, t))
		if len(t.Blocks) == 0 {
			n.anywhere = append(n.anywhere, i)
		}
		n.all = append(n.all, i)
	}
}

// take gives the slots of a machine to tasks of a list, if it takes tasks as
// far away as those.
func (n *nearest) take(machine int, far Level, tasks []int) {
	for _, i := range tasks {
		if n.allowed[machine] > far || n.free[machine] == 0 || len(n.starts) >= n.demand.Grant {
			return
		}
		if !n.taken[i] && !slices.Contains(n.avoid[i], machine) {
			n.taken[i] = true
			n.free[machine]--
			n.starts = append(n.starts, Start{0, i, machine, n.level(n.demand.Tasks[i], machine)})
		}
	}
}
