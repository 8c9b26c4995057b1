package mincost

import "math/rand/v2"

// placement is the network of a cluster: tasks with three replicas, machines in racks of 40,
// a vertex for the whole cluster, and expensive arcs for tasks that stay unscheduled.
type placement struct {
	network  *Network
	random   *rand.Rand
	machines []Vertex
	racks    []Vertex
	anywhere Vertex
	tasks    []Vertex
}

const rackSize = 40

// hotCluster returns a cluster with half of all replicas on a tenth of its machines.
func hotCluster(machines, slots, tasks int) *placement {
	p := &placement{network: New(), random: rand.New(rand.NewPCG(1, uint64(machines)))}
	for range machines {
		m := p.network.AddVertex()
		p.network.AddArc(m, Sink, int64(slots), 0)
		p.machines = append(p.machines, m)
	}
	for i := 0; i < machines; i += rackSize {
		rack := p.network.AddVertex()
		for _, m := range p.machines[i:min(i+rackSize, machines)] {
			p.network.AddArc(rack, m, Unbounded, 0)
		}
		p.racks = append(p.racks, rack)
	}
	p.anywhere = p.network.AddVertex()
	for _, rack := range p.racks {
		p.network.AddArc(p.anywhere, rack, Unbounded, 0)
	}
	for range tasks {
		p.addTask()
	}
	return p
}

// addTask adds a task of 64 to 128 MiB, in units of 1 MiB.
func (p *placement) addTask() {
	task, size := p.network.AddVertex(), 64+p.random.Int64N(65)
	for range 3 {
		m := p.random.IntN(len(p.machines))
		if p.random.IntN(2) == 0 {
			m = p.random.IntN(max(len(p.machines)/10, 1))
		}
		p.network.AddArc(task, p.machines[m], 1, 0)
		p.network.AddArc(task, p.racks[m/rackSize], 1, size)
	}
	p.network.AddArc(task, p.anywhere, 1, 2*size)
	p.network.AddArc(task, Sink, 1, 1000)
	p.network.AddSupply(task, 1)
	p.tasks = append(p.tasks, task)
}

// removeTask removes one of the tasks.
func (p *placement) removeTask() {
	i := p.random.IntN(len(p.tasks))
	p.network.AddSupply(p.tasks[i], -1)
	p.network.Solve()
	p.network.Remove(p.tasks[i])
	p.tasks[i] = p.tasks[len(p.tasks)-1]
	p.tasks = p.tasks[:len(p.tasks)-1]
}
