package locality

// distance returns the cost of a task on a machine: its bytes times their distance. It is 0
// on the machine of its checkpoint.
func (p *machineIndex) distance(t Task, machine int) int64 {
	total, machines, racks := p.costBytes(t)
	return 2*total - shareOf(racks, p.rackOf[machine]) - shareOf(machines, machine)
}
