package locality

import "github.com/hammr/hammr/locality/mincost"

// DefaultRack is the rack of a machine of which nobody has told another, as in
// Hadoop.
const DefaultRack = "/default-rack"

// Topology knows in which rack hosts are. It is used by one goroutine.
type Topology struct {
	table  map[string]string // as the operator has written it
	joined map[string]string // hosts of machines

	network *mincost.Network // of the latest Flow, to be used again; nil before the first
}

// NewTopology takes the operator's table of racks by name or address of a host;
// nil is an empty one.
func NewTopology(table map[string]string) *Topology {
	return &Topology{table: table, joined: make(map[string]string)}
}

// Add makes the names of a machine known and returns its rack: the one that it
// says, else that of the first of its names in the table, else DefaultRack.
func (t *Topology) Add(m Machine) string {
	rack := t.RackOf(m)
	t.joined[m.Name] = rack
	for _, host := range m.Hosts {
		t.joined[host] = rack
	}
	return rack
}

// RackOf is what Join returns.
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

// RackOfHost is the rack of a host; ok is false when neither a machine nor the table
// has that name. Such a host is far from everywhere.
func (t *Topology) RackOfHost(host string) (rack string, ok bool) {
	if rack, ok = t.joined[host]; ok {
		return rack, true
	}
	rack, ok = t.table[host]
	return rack, ok
}

// Level tells how near a task is to what it reads.
type Level int

const (
	// Remote is in another rack, or nobody knows where, or reads no blocks.
	Remote Level = iota
	// RackLocal is in the rack of most of the input.
	RackLocal
	// MachineLocal is on the machine that holds most of the input.
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
