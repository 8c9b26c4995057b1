package locality

// Transfer is how far the bytes of a task travel to a machine.
type Transfer struct {
	Local  int64 // that lie there
	Rack   int64 // that lie elsewhere in its rack
	Remote int64 // that come from another rack, or nobody knows where from
}

// Cost is what a flow counts for them: bytes times how far they travel. What a task
// has on its Home is not among them.
func (t Transfer) Cost() int64 { return t.Rack + 2*t.Remote }

// Transfer is how far what a task reads travels to a machine.
func (t *Topology) Transfer(task Task, m Machine) Transfer {
	p := newMachineIndex(t, []Machine{m})
	total, machines, racks := p.inputBytes(task)
	here, near := shareOf(machines, 0), shareOf(racks, p.rackOf[0])
	return Transfer{Local: here, Rack: near - here, Remote: total - near}
}
