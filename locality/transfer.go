package locality

// Transfer is how far the bytes of a task are from a machine, in bytes by distance.
type Transfer struct {
	Local  int64 // on the machine
	Rack   int64 // in its rack, on other machines
	Remote int64 // in another rack, or at an unknown location
}

// Cost is the cost of the transfer in a flow: bytes times distance. It excludes the
// checkpoint.
func (t Transfer) Cost() int64 { return t.Rack + 2*t.Remote }

// Transfer returns how far the input of a task is from a machine.
func (t *Topology) Transfer(task Task, m Machine) Transfer {
	p := newMachineIndex(t, []Machine{m})
	total, machines, racks := p.inputBytes(task)
	here, near := shareOf(machines, 0), shareOf(racks, p.rackOf[0])
	return Transfer{Local: here, Rack: near - here, Remote: total - near}
}
