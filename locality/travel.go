package locality

// Travel is how far the bytes of a task travel to a machine.
type Travel struct {
	Local  int64 // that lie there
	Rack   int64 // that lie elsewhere in its rack
	Remote int64 // that come from another rack, or nobody knows where from
}

// Cost is what a flow counts for them: bytes times how far they travel. What a task
// has on its Home is not among them.
func (t Travel) Cost() int64 { return t.Rack + 2*t.Remote }

// Travel is how far what a task reads travels to a machine.
func (t *Topology) Travel(task Task, m Machine) Travel {
	p := newPlaces(t, []Machine{m})
	total, machines, racks := p.shares(task)
	here, near := shareOf(machines, 0), shareOf(racks, p.rackOf[0])
	return Travel{Local: here, Rack: near - here, Remote: total - near}
}
