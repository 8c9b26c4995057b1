package dag

import "slices"

// Graph is what a job does: stages of Nodes and the edges that join them. It is
// a value; the functions of this package never change it.
type Graph struct {
	Stages []Stage `cbor:"Stages"`
	Edges  []Edge  `cbor:"Edges"`
}

// Stage is a number of Nodes that run the same program on different data.
type Stage struct {
	Name  string   `cbor:"Name"`  // unique in the graph, not empty
	Nodes int      `cbor:"Nodes"` // how many; 0 for a stage whose input is empty
	Slots SlotKind `cbor:"Slots"` // what its Nodes occupy while they run

	// Inputs are the names under which its program reads what leads into the
	// stage. Validate refuses a graph that lacks one, or has another; none for
	// a program that reads whatever there is.
	Inputs []string `cbor:"Inputs"`
}

// Edge joins the Nodes of one stage to those of another.
type Edge struct {
	From       string     `cbor:"From"` // name of the stage that writes
	To         string     `cbor:"To"`   // name of the stage that reads
	Channel    Channel    `cbor:"Channel"`
	Connection Connection `cbor:"Connection"`

	// Input is the name under which the reader's program knows what comes along
	// the edge; "" for the name of the stage that writes. It lets stages that
	// run one program, such as the rounds of an iteration, each read from
	// another stage.
	Input string `cbor:"Input"`

	// Stored says that a file is kept in the file system of the job's output, and
	// not on the disk of the machine that wrote it: what has been written is not
	// lost with that machine.
	Stored bool `cbor:"Stored"`
}

// InputName is the name under which the reader's program knows the edge.
func (e Edge) InputName() string {
	if e.Input != "" {
		return e.Input
	}
	return e.From
}

// Store returns the graph with all its files kept in the file system of the
// job's output.
func (g Graph) Store() Graph {
	g.Edges = slices.Clone(g.Edges)
	for i := range g.Edges {
		g.Edges[i].Stored = g.Edges[i].Channel == ChannelFile
	}
	return g
}

// SlotKind tells which slots of a machine a stage takes.
type SlotKind int

const (
	// SlotDefault is a map slot for a stage without incoming edges and a
	// reduce slot for any other.
	SlotDefault SlotKind = iota
	// SlotMap is a map slot.
	SlotMap
	// SlotReduce is a reduce slot.
	SlotReduce
)

// Channel tells what carries records along an edge.
type Channel int

const (
	// ChannelFile is a file that the writer finishes before a reader reads
	// it; either may run again without the other.
	ChannelFile Channel = iota
	// ChannelTCP is a stream between Nodes that run at once.
	ChannelTCP
	// ChannelSHM is memory shared by Nodes of one process.
	ChannelSHM
)

// Connection tells which Nodes of two stages an edge joins.
type Connection int

const (
	// AllToAll joins each writer to each reader: every reader gets its
	// partition of every writer's records.
	AllToAll Connection = iota
	// OneToOne joins writer i to reader i.
	OneToOne
	// Broadcast gives all records of every writer to every reader.
	Broadcast
	// Gather gives all records of every writer to the only reader.
	Gather
	// PerMachine joins the writers of each machine to one reader there, which
	// combines their records before they leave it. Which writers those are is
	// known only when they have run, so the edge is a file and whoever reads
	// the combined records reads those of all machines. The stage that combines
	// has as many Nodes as machines may take part; those left over do nothing.
	PerMachine
)

var (
	slotNames       = []string{"default", "map", "reduce"}
	channelNames    = []string{"file", "tcp", "shm"}
	connectionNames = []string{"all-to-all", "one-to-one", "broadcast", "gather", "per-machine"}
)

func (k SlotKind) String() string   { return nameOf(slotNames, int(k)) }
func (c Channel) String() string    { return nameOf(channelNames, int(c)) }
func (c Connection) String() string { return nameOf(connectionNames, int(c)) }

func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}

// MapReduce is the graph of a job with maps map tasks and reduces reduce tasks;
// with no reduces it is a graph of one stage.
func MapReduce(maps, reduces int) Graph {
	g := Graph{Stages: []Stage{{Name: "map", Nodes: maps, Slots: SlotMap}}}
	if reduces > 0 {
		g.Stages = append(g.Stages, Stage{Name: "reduce", Nodes: reduces, Slots: SlotReduce})
		g.Edges = []Edge{{From: "map", To: "reduce", Channel: ChannelFile, Connection: AllToAll}}
	}
	return g
}

// StageIndex is the place of the named stage in g.Stages, -1 when there is none.
func (g Graph) StageIndex(name string) int {
	for i, s := range g.Stages {
		if s.Name == name {
			return i
		}
	}
	return -1
}

// IsSource reports whether nothing leads into the named stage.
func (g Graph) IsSource(name string) bool {
	for _, e := range g.Edges {
		if e.To == name {
			return false
		}
	}
	return true
}

// IsSink reports whether the named stage leads into no other.
func (g Graph) IsSink(name string) bool {
	for _, e := range g.Edges {
		if e.From == name {
			return false
		}
	}
	return true
}

// SlotsOf is the kind of slots that the named stage takes, with the default
// resolved: SlotMap or SlotReduce.
func (g Graph) SlotsOf(name string) SlotKind {
	if i := g.StageIndex(name); i >= 0 && g.Stages[i].Slots != SlotDefault {
		return g.Stages[i].Slots
	}
	if g.IsSource(name) {
		return SlotMap
	}
	return SlotReduce
}
