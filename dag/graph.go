package dag

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
)

// Graph is a job as stages of Nodes and the edges that join them. It is a value; the
// functions of this package never change it.
type Graph struct {
	Stages []Stage `cbor:"Stages"`
	Edges  []Edge  `cbor:"Edges"`
}

// Stage is a number of Nodes that run the same program on different data.
type Stage struct {
	Name  string   `cbor:"Name"`  // unique in the graph, not empty
	Nodes int      `cbor:"Nodes"` // 0 for a stage whose input is empty
	Slots SlotKind `cbor:"Slots"` // kind of slot that each of its Nodes occupies

	// Inputs are the names under which the program reads the edges into the stage. Validate
	// refuses a graph whose edges lack one of them or have another name. It is empty for a
	// program that accepts any edges.
	Inputs []string `cbor:"Inputs"`
}

// Edge joins the Nodes of one stage to the Nodes of another.
type Edge struct {
	From       string     `cbor:"From"`       // name of the stage that writes
	To         string     `cbor:"To"`         // name of the stage that reads
	Channel    Channel    `cbor:"Channel"`    // kind of channel that carries the records
	Connection Connection `cbor:"Connection"` // selects the Nodes that the edge joins

	// Input is the name under which the reader's program reads the edge; "" stands for the
	// name of the stage that writes. Stages that run one program, such as the rounds of an
	// iteration, can thus read from different stages.
	Input string `cbor:"Input"`

	// Stored says that files are kept in the file system of the job's output, instead of on
	// the disk of the machine that wrote them. They survive the loss of that machine.
	Stored bool `cbor:"Stored"`

	// FilesOf names the stage at the end of another edge from the same writer, whose files
	// this edge reads too: the writer writes them once for all readers. It is "" for an edge
	// with files of its own. Masters of an older version do not know it (version).
	FilesOf string `cbor:"FilesOf,omitempty"`
}

// InputName returns the name under which the reader's program reads the edge.
func (e Edge) InputName() string {
	return cmp.Or(e.Input, e.From)
}

// Files returns the index of the edge whose files an edge reads: its own, unless FilesOf names
// another. An edge that Validate refuses has its own.
func (g Graph) Files(edge int) int {
	e := g.Edges[edge]
	if e.FilesOf == "" {
		return edge
	}
	i := slices.IndexFunc(g.Edges, func(other Edge) bool { return other.From == e.From && other.To == e.FilesOf })
	if i < 0 {
		return edge
	}
	return i
}

// Store returns the graph with all its files stored in the file system of the job's output.
func (g Graph) Store() Graph {
	g.Edges = slices.Clone(g.Edges)
	for i := range g.Edges {
		g.Edges[i].Stored = g.Edges[i].Channel == ChannelFile
	}
	return g
}

// SlotKind selects the slots that a stage occupies.
type SlotKind int

const (
	// SlotDefault is a map slot for a stage without incoming edges, and a reduce slot for
	// any other.
	SlotDefault SlotKind = iota
	// SlotMap is a map slot.
	SlotMap
	// SlotReduce is a reduce slot.
	SlotReduce
)

// Channel is the kind of channel that carries records along an edge.
type Channel int

const (
	// ChannelFile is a file that the writer finishes before a reader reads it. Either may
	// run again without the other.
	ChannelFile Channel = iota
	// ChannelTCP is a stream between Nodes that run at the same time.
	ChannelTCP
	// ChannelSHM is memory shared by Nodes of one process.
	ChannelSHM
)

// Connection selects the Nodes of two stages that an edge joins.
type Connection int

const (
	// AllToAll joins each writer to each reader: every reader gets its partition of every
	// writer's records.
	AllToAll Connection = iota
	// OneToOne joins writer i to reader i.
	OneToOne
	// Broadcast gives all records of every writer to every reader.
	Broadcast
	// Gather gives all records of every writer to the only reader.
	Gather
	// PerMachine joins the writers of each machine to one reader there, which combines their
	// records before they leave the machine. The writers of a machine are known only after
	// they have run, so the edge is a file. The stage after it must read the combined
	// records of all machines. The combining stage has one Node per expected machine; Nodes
	// in excess of the machines do nothing.
	PerMachine
)

// The names by which graphs are shown. Fingerprints depend on them, so they never change.
var (
	slotNames       = []string{"default", "map", "reduce"}
	channelNames    = []string{"file", "tcp", "shm"}
	connectionNames = []string{"all-to-all", "one-to-one", "broadcast", "gather", "per-machine"}
)

func (k SlotKind) String() string   { return nameOf(slotNames, int(k)) }
func (c Channel) String() string    { return nameOf(channelNames, int(c)) }
func (c Connection) String() string { return nameOf(connectionNames, int(c)) }

// nameOf returns the name of a constant; "unknown" of any other number, which Validate
// refuses.
func nameOf(names []string, i int) string {
	if i < 0 || i >= len(names) {
		return "unknown"
	}
	return names[i]
}

// MapReduce returns the graph of a job with this number of map and reduce tasks. Without
// reduces it has one stage.
func MapReduce(maps, reduces int) Graph {
	g := Graph{Stages: []Stage{{Name: "map", Nodes: maps, Slots: SlotMap}}}
	if reduces > 0 {
		g.Stages = append(g.Stages, Stage{Name: "reduce", Nodes: reduces, Slots: SlotReduce})
		g.Edges = []Edge{{From: "map", To: "reduce", Channel: ChannelFile, Connection: AllToAll}}
	}
	return g
}

// StageIndex returns the index of the named stage in g.Stages, or -1.
func (g Graph) StageIndex(name string) int {
	return slices.IndexFunc(g.Stages, func(s Stage) bool { return s.Name == name })
}

// IsSource reports whether the named stage has no incoming edge.
func (g Graph) IsSource(name string) bool {
	return !slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.To == name })
}

// IsSink reports whether the named stage has no outgoing edge.
func (g Graph) IsSink(name string) bool {
	return !slices.ContainsFunc(g.Edges, func(e Edge) bool { return e.From == name })
}

// SlotsOf returns the kind of slots that the named stage takes: SlotMap or SlotReduce, with
// the default resolved.
func (g Graph) SlotsOf(name string) SlotKind {
	if i := g.StageIndex(name); i >= 0 && g.Stages[i].Slots != SlotDefault {
		return g.Stages[i].Slots
	}
	if g.IsSource(name) {
		return SlotMap
	}
	return SlotReduce
}

// Fingerprint returns a short hash of everything in the graph. Two graphs with the same
// stages and edges in the same order have the same fingerprint, in every version. A task
// compares the fingerprint of its job with that of its own program.
func (g Graph) Fingerprint() string {
	sum := sha256.Sum256([]byte(g.String()))
	return hex.EncodeToString(sum[:8])
}

// String lists the graph, with a line for each stage and each edge. A line omits fields that
// the graph does not use, so that new fields do not change the fingerprint.
func (g Graph) String() string {
	var b strings.Builder
	for _, s := range g.Stages {
		fmt.Fprintf(&b, "stage %q %d %v", s.Name, s.Nodes, s.Slots)
		if len(s.Inputs) > 0 {
			fmt.Fprintf(&b, " inputs %q", s.Inputs)
		}
		b.WriteByte('\n')
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "edge %v %v %v", e, e.Channel, e.Connection)
		if e.Input != "" {
			fmt.Fprintf(&b, " input %q", e.Input)
		}
		if e.Stored {
			b.WriteString(" stored")
		}
		if e.FilesOf != "" {
			fmt.Fprintf(&b, " files of %q", e.FilesOf)
		}
		b.WriteByte('\n')
	}
	return b.String()
}
