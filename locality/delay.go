package locality

import "slices"

// Delay is delay scheduling (Zaharia et al., EuroSys 2010, section 4). A free slot first
// waits for a machine-local task, then for a rack-local one, and then takes any task. Waits
// count from the time when the slot became free, in ms.
type Delay struct {
	MachineWait int64 // before rack-local tasks are accepted
	RackWait    int64 // after that, before any task is accepted
}

// Level returns the lowest level of locality that a slot accepts after it has waited.
func (d Delay) Level(waited int64) Level {
	switch {
	case waited >= d.MachineWait+d.RackWait:
		return Remote
	case waited >= d.MachineWait:
		return RackLocal
	}
	return MachineLocal
}

// Remaining returns how long the result of Level still applies to a slot that has waited; 0
// means forever.
func (d Delay) Remaining(waited int64) int64 {
	switch d.Level(waited) {
	case MachineLocal:
		return d.MachineWait - waited
	case RackLocal:
		return d.MachineWait + d.RackWait - waited
	}
	return 0
}

// Nearest places the tasks of one demand by delay scheduling. It visits the machines in
// order. Each machine takes first machine-local tasks, then rack-local tasks, then any
// tasks, as far as its entry in allowed permits. A task is local on the machine of its
// checkpoint, which takes precedence over the machines of its input. A task that reads no
// blocks is local everywhere.
func (t *Topology) Nearest(machines []Machine, allowed []Level, demand Demand) []Start {
	n := &nearest{
		machineIndex: newMachineIndex(t, machines), demand: demand, allowed: allowed,
		byCheckpoint: make([][]int, len(machines)), byMachine: make([][]int, len(machines)), taken: make([]bool, len(demand.Tasks)), free: make([]int, len(machines)),
	}
	n.byRack = make([][]int, len(n.racks))
	for i, m := range machines {
		n.free[i] = m.Free
	}
	n.index()
	for i := range machines {
		n.take(i, MachineLocal, n.byCheckpoint[i])
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

// nearest is the state of one call of Nearest.
type nearest struct {
	*machineIndex
	demand  Demand
	allowed []Level
	free    []int // by machine: free slots
	taken   []bool
	avoid   [][]int // by task, machines
	starts  []Start

	byCheckpoint, byMachine, byRack [][]int // task indexes, in order
	anywhere, all                   []int
}

// index lists the tasks by the machines and racks that they prefer. Each machine then
// takes tasks from its own lists, so the cost does not grow with machines times tasks.
func (n *nearest) index() {
	for i, t := range n.demand.Tasks {
		if m, ok := n.byName[t.CheckpointOn]; ok {
			n.byCheckpoint[m] = append(n.byCheckpoint[m], i)
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

// take starts tasks of a list on a machine until the machine's slots run out. It does
// nothing if the machine does not accept tasks of level far.
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
