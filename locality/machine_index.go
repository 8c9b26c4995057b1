package locality

import "slices"

// machineIndex finds the machines of one call by host and by rack.
type machineIndex struct {
	topology  *Topology
	machines  []Machine
	byName    map[string]int
	byHost    map[string][]int
	racks     []string // in order of their first machine
	rackOf    []int    // by machine, index into racks
	byRack    map[string]int
	locations map[string]location // by host: locations looked up so far

	onMachines, inRacks []byteShare // reused by inputBytes
}

// location lists the machines and racks of a host, each once.
type location struct{ machines, racks []int }

// locate returns the location of a host.
func (p *machineIndex) locate(host string) location {
	s, ok := p.locations[host]
	if ok {
		return s
	}
	s.machines = p.byHost[host]
	for _, m := range s.machines {
		s.racks = addOnce(s.racks, p.rackOf[m])
	}
	if rack, ok := p.topology.RackOfHost(host); ok {
		if r, ok := p.byRack[rack]; ok {
			s.racks = addOnce(s.racks, r)
		}
	}
	if p.locations == nil {
		p.locations = make(map[string]location)
	}
	p.locations[host] = s
	return s
}

// newMachineIndex numbers the machines and their racks in the order in which they come.
func newMachineIndex(t *Topology, machines []Machine) *machineIndex {
	p := &machineIndex{
		topology: t, machines: machines, rackOf: make([]int, len(machines)), byName: make(map[string]int, len(machines)),
		byHost: make(map[string][]int, len(machines)), byRack: make(map[string]int),
	}
	for i, m := range machines {
		p.byName[m.Name] = i
		p.addHost(m.Name, i)
		for _, host := range m.Hosts {
			p.addHost(host, i)
		}
		rack := t.RackOf(m)
		r, ok := p.byRack[rack]
		if !ok {
			r = len(p.racks)
			p.byRack[rack] = r
			p.racks = append(p.racks, rack)
		}
		p.rackOf[i] = r
	}
	return p
}

// addHost enters a machine under a name or address by which storage may know it. Several
// machines may share a name, for instance tasknodes on one host.
func (p *machineIndex) addHost(host string, machine int) {
	if at := p.byHost[host]; !slices.Contains(at, machine) {
		p.byHost[host] = append(at, machine)
	}
}

// avoided returns the machines on which a task of a demand must not start, ascending, each
// once.
func (p *machineIndex) avoided(d Demand, t Task) (machines []int) {
	for _, names := range [][]string{d.Avoid, t.Avoid} {
		for _, name := range names {
			if m, ok := p.byName[name]; ok {
				machines = addOnce(machines, m)
			}
		}
	}
	slices.Sort(machines)
	return machines
}

// byteShare is the number of a task's bytes on a machine or in a rack.
type byteShare struct {
	place int
	bytes int64
	block int // last block counted
}

// inputBytes returns where the blocks of a task are. The share of a rack includes that of
// its machines. Both lists are in the order of the blocks' hosts, and valid until the next
// call.
func (p *machineIndex) inputBytes(t Task) (total int64, machines, racks []byteShare) {
	machines, racks = p.onMachines[:0], p.inRacks[:0]
	for block, b := range t.Blocks {
		total += b.weight()
		for _, host := range b.Hosts {
			s := p.locate(host)
			machines = addShares(machines, s.machines, b.weight(), block)
			racks = addShares(racks, s.racks, b.weight(), block)
		}
	}
	p.onMachines, p.inRacks = machines, racks
	return total, machines, racks
}

// costBytes returns inputBytes for the cost of a task: the checkpoint counts as bytes too,
// and the transfer to its machine costs 0.
func (p *machineIndex) costBytes(t Task) (total int64, machines, racks []byteShare) {
	total, machines, racks = p.inputBytes(t)
	checkpoint := p.checkpointLocation(t)
	done, block := t.checkpointBytes(total), len(t.Blocks)
	total += done
	racks = addShares(racks, checkpoint.racks, done, block)
	for _, m := range checkpoint.machines {
		machines = slices.DeleteFunc(machines, func(s byteShare) bool { return s.place == m })
		machines = append(machines, byteShare{m, 2*total - shareOf(racks, p.rackOf[m]), block})
	}
	p.onMachines, p.inRacks = machines, racks
	return total, machines, racks
}

// checkpointLocation returns the location of a task's checkpoint: empty if it has none, only
// its rack if its machine is not in the index.
func (p *machineIndex) checkpointLocation(t Task) (s location) {
	if t.CheckpointOn == "" {
		return s
	}
	if m, ok := p.byName[t.CheckpointOn]; ok {
		return location{[]int{m}, []int{p.rackOf[m]}}
	}
	if rack, ok := p.topology.RackOfHost(t.CheckpointOn); ok {
		if r, ok := p.byRack[rack]; ok {
			s.racks = []int{r}
		}
	}
	return s
}

// addOnce appends a number unless the list contains it. The lists are short.
func addOnce(to []int, v int) []int {
	if slices.Contains(to, v) {
		return to
	}
	return append(to, v)
}

// addShares adds the bytes of a block to the locations that have the block, at most once for
// each location.
func addShares(to []byteShare, at []int, bytes int64, block int) []byteShare {
	for _, place := range at {
		switch i := slices.IndexFunc(to, func(s byteShare) bool { return s.place == place }); {
		case i < 0:
			to = append(to, byteShare{place, bytes, block})
		case to[i].block != block:
			to[i].bytes, to[i].block = to[i].bytes+bytes, block
		}
	}
	return to
}

// shareOf returns the bytes at a location; 0 if there are none.
func shareOf(shares []byteShare, place int) int64 {
	for _, s := range shares {
		if s.place == place {
			return s.bytes
		}
	}
	return 0
}

// LevelOf returns how near a task is to its input on a machine.
func (t *Topology) LevelOf(task Task, m Machine) Level {
	return newMachineIndex(t, []Machine{m}).level(task, 0)
}

// level returns where most of a task's bytes are, relative to a machine.
func (p *machineIndex) level(t Task, machine int) Level {
	total, machines, racks := p.inputBytes(t)
	switch {
	case total == 0:
		return Remote
	case 2*shareOf(machines, machine) >= total:
		return MachineLocal
	case 2*shareOf(racks, p.rackOf[machine]) >= total:
		return RackLocal
	}
	return Remote
}
