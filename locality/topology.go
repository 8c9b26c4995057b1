package locality

import "github.com/hammr/hammr/locality/mincost"

// DefaultRack is the rack of a machine whose rack is not configured, as in Hadoop.
const DefaultRack = "/default-rack"

// Topology maps hosts to racks. It is used by one goroutine.
type Topology struct {
	table  map[string]string // the operator's table
	joined map[string]string // hosts of machines

	network *mincost.Network // network of the latest Flow, for reuse; nil before the first Flow
}

// NewTopology returns a topology with the operator's table of racks, by name or address of a
// host. A nil table is empty.
func NewTopology(table map[string]string) *Topology {
	return &Topology{table: table, joined: make(map[string]string)}
}

// Add registers the names of a machine and returns its rack: its own rack if set, else the
// rack of the first of its names in the table, else DefaultRack.
func (t *Topology) Add(m Machine) string {
	rack := t.RackOf(m)
	t.joined[m.Name] = rack
	for _, host := range m.Hosts {
		t.joined[host] = rack
	}
	return rack
}

// RackOf returns the rack of a machine, as Add does.
func (t *Topology) RackOf(m Machine) string {
	if m.Rack != "" {
		return m.Rack
	}
	if rack, ok := t.table[m.Name]; ok {
		return rack
	}
	for _, host := range m.Hosts {
		if rack, ok := t.table[host]; ok {
			return rack
		}
	}
	return DefaultRack
}

// RackOfHost returns the rack of a host; ok is false if neither a machine nor the table has
// that name. Such a host counts as remote from every machine.
func (t *Topology) RackOfHost(host string) (rack string, ok bool) {
	if rack, ok = t.joined[host]; ok {
		return rack, true
	}
	rack, ok = t.table[host]
	return rack, ok
}

// Level says how near a task is to its input. Higher is nearer.
type Level int

const (
	// Remote: the input is in another rack, its location is unknown, or there is none.
	Remote Level = iota
	// RackLocal: most of the input is in the same rack.
	RackLocal
	// MachineLocal: most of the input is on the same machine.
	MachineLocal
)

func (l Level) String() string {
	switch l {
	case MachineLocal:
		return "node"
	case RackLocal:
		return "rack"
	}
	return "remote"
}

// Transfer counts the bytes of a task by their distance from a machine.
type Transfer struct {
	Local  int64 // on the machine
	Rack   int64 // in the machine's rack, on other machines
	Remote int64 // in another rack, or at an unknown location
}

// Cost returns the cost of the transfer in a flow: bytes times distance. It excludes the
// checkpoint.
func (t Transfer) Cost() int64 { return t.Rack + 2*t.Remote }

// Transfer returns how far the input of a task is from a machine.
func (t *Topology) Transfer(task Task, m Machine) Transfer {
	p := newMachineIndex(t, []Machine{m})
	total, machines, racks := p.inputBytes(task)
	here, near := shareOf(machines, 0), shareOf(racks, p.rackOf[0])
	return Transfer{Local: here, Rack: near - here, Remote: total - near}
}
