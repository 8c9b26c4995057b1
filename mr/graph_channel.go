package mr

import (
	"slices"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/shuffle"
)

// Connection determines which Nodes of two stages a channel joins. See package dag.
type Connection = dag.Connection

// The connections for Stream and Via.
const (
	AllToAll  = dag.AllToAll
	OneToOne  = dag.OneToOne
	Broadcast = dag.Broadcast
	Gather    = dag.Gather
)

// Channel carries the records of a stage to another stage. It is a value: its methods return
// a changed copy, which a stage must read. The zero value is a channel that no stage has made; connect refuses it.
type Channel[K, V any] struct {
	from  *Stage[K, V] // nil for the zero value
	edge  link         // its to is nil: a stage that reads the channel has a copy
	route route[K, V]
}

// channelFiles are the files of a channel or side. The stage writes them once for all stages
// that read the channel. A method that changes the channel gives it other files.
type channelFiles struct {
	owner *link // the edge of the first stage that reads them; nil before

	// Of a changed copy of a Channel:
	changedAt position // file:line of the call that made it
	used      bool     // a stage reads it, or it was changed again
}

// changed returns a copy of the channel that has other files. The graph checks that the copy
// is used: otherwise the change would have no effect.
func changed[K, V any](c Channel[K, V]) Channel[K, V] {
	c.edge.change()
	return c
}

// change gives the edge of a changed channel other files.
func (l *link) change() {
	if l.from == nil {
		return
	}
	l.files.used = true
	l.files = &channelFiles{changedAt: callerPosition()}
	l.from.graph.changed = append(l.from.graph.changed, l.files)
}

// Shuffle carries records in files, each key to one Node of the reader, as between map and
// reduce.
func (s *Stage[K, V]) Shuffle() Channel[K, V] { return s.Via(dag.ChannelFile, dag.AllToAll) }

// Pipe carries records within a process, from each Node to the reader's Node of the same
// number. They are not encoded.
func (s *Stage[K, V]) Pipe() Channel[K, V] { return s.Via(dag.ChannelSHM, dag.OneToOne) }

// Stream carries records over TCP as they are emitted. The Nodes of both stages run at the
// same time.
func (s *Stage[K, V]) Stream(c Connection) Channel[K, V] { return s.Via(dag.ChannelTCP, c) }

// PerMachine carries records in files to the given number of Nodes, one for each expected
// machine. Each Node gets the records that the Nodes of one machine have emitted. So it can
// combine records before they leave the machine. If there are more machines, a Node gets the
// records of several.
func (s *Stage[K, V]) PerMachine(machines int) Channel[K, V] {
	c := s.Via(dag.ChannelFile, dag.PerMachine)
	if c.edge.machines = machines; machines < 1 {
		s.errorfAt(c.edge.declaredAt, "per-machine for %d machines; at least 1", machines)
	}
	return c
}

// Via returns any channel. The other methods are short forms for the usual ones.
func (s *Stage[K, V]) Via(kind dag.Channel, c Connection) Channel[K, V] {
	edge := link{from: s.stage, channel: kind, connection: c, files: new(channelFiles), declaredAt: callerPosition()}
	return Channel[K, V]{from: s, edge: edge, route: newRoute[K, V]()}
}

// Keep keeps the records where the Nodes of the stage have written them, in files that are
// sorted by key. Node i of a stage that reads them gets the records of Node i, and runs near
// its file if it can. What does not change from round to round is kept once, and each round
// joins it by CoGroup with what does change:
//
//	links := mr.Group(g, "links", collect, edges.Shuffle()).Keep()
//	ranks = mr.CoGroup(g, "round-1", round, links, shares.Shuffle())
//
// The partitions of the two agree if the keys that the stage emits are those that it got.
func (s *Stage[K, V]) Keep() Channel[K, V] { return s.Via(dag.ChannelFile, dag.OneToOne) }

// Stored keeps the channel's files in the file system of the job's output until the job
// ends, with as many copies as the output has. If a machine is lost, its finished tasks need
// not run again. The price is to write the files a second time. The property
// hammr.job.channel.stored does this for all files of a job.
func (c Channel[K, V]) Stored() Channel[K, V] {
	c.edge.stored = true
	return changed(c)
}

// Combine sets the combiner, as Job.Combine does. Only channels of files have one.
func (c Channel[K, V]) Combine(r Reducer[K, V, K, V]) Channel[K, V] {
	if c.edge.channel != dag.ChannelFile && c.from != nil {
		c.from.errorfAt(callerPosition(), "combiner on a channel that is no file; combine in a stage of its own, whose output is one")
	}
	c.route.combiner = r
	return changed(c)
}

// Partition sets which Node of the reader, 0 to partitions-1, gets a key, as Job.Partition
// does. The default is HashPartition. It applies to all-to-all channels.
func (c Channel[K, V]) Partition(f func(key K, partitions int) int) Channel[K, V] {
	if c.edge.connection != dag.AllToAll && c.from != nil {
		c.from.errorfAt(callerPosition(), "partition function on a %v channel, whose connection decides which node gets a record; use Shuffle", c.edge.connection)
	}
	c.route.partition = f
	return changed(c)
}

// KeyCodec sets how keys are encoded, as Job.KeyCodec does. Channels that one stage merges
// must have the same codecs.
func (c Channel[K, V]) KeyCodec(codec Codec[K]) Channel[K, V] {
	c.route.keys, c.route.keyErr = codec, nil
	return changed(c)
}

// ValueCodec sets how values are encoded.
func (c Channel[K, V]) ValueCodec(codec Codec[V]) Channel[K, V] {
	c.route.values = codec
	return changed(c)
}

// HashPartition returns the default partition of an encoded key. A []byte or string is
// encoded as its bytes.
func HashPartition(key []byte, partitions int) int { return shuffle.HashPartition(key, partitions) }

// connect makes a stage read channels. sorted means that the stage reads them in order of
// key. connect also adds the channel to the targets of the stage that writes it.
func connect[K, V any](to *stage, sorted bool, in ...Channel[K, V]) {
	if len(in) == 0 {
		to.errorf("no input: give it channels of stages that it is to read")
	}
	for i, c := range in {
		if connectOne(to, sorted, c) && i > 0 {
			checkLike(to, c, in[0])
		}
	}
	to.checkLive()
}

// connectOne makes a stage read the channel, and reports whether the graph allows it. The files of
// a channel are one target, however many stages read them.
func connectOne[K, V any](to *stage, sorted bool, c Channel[K, V]) bool {
	l := to.readEdge(c.edge)
	if l == nil {
		return false
	}
	if l.filesOf() == "" {
		c.from.targets = append(c.from.targets, channelTarget[K, V]{to: to.name, route: &c.route})
	}
	checkCodecs(to, sorted, c)
	return true
}

// readEdge adds the edge of a channel that the stage reads. It returns the edge, or nil if the
// graph refuses it.
func (s *stage) readEdge(edge link) *link {
	if edge.to = s; edge.files != nil {
		edge.files.used = true
	}
	if !s.graph.link(&edge) {
		return nil
	}
	s.reads = append(s.reads, &edge)
	return &edge
}

// link is an edge of the graph.
type link struct {
	from, to   *stage // from is nil for the zero Channel
	channel    dag.Channel
	connection dag.Connection
	stored     bool          // the files survive the loss of the machine that wrote them
	machines   int           // number of Nodes that read a per-machine edge, unless the reader sets its own number
	files      *channelFiles // of its channel; nil for the zero Channel
	declaredAt position      // file:line
}

// filesOf returns the name of the stage whose edge has the files that this edge reads; "" if
// it has its own.
func (l *link) filesOf() string {
	if owner := l.files.owner; owner != l {
		return owner.to.name
	}
	return ""
}

// isLive reports whether both ends run at the same time.
func (l *link) isLive() bool { return l.channel != dag.ChannelFile }

// link adds an edge to the graph and reports whether the edge is allowed. It refuses a
// second edge between the same stages, because a Node knows its channels by the stages at
// their ends.
func (g *Graph) link(l *link) bool {
	switch {
	case l.from == nil:
		l.to.errorf("a channel that no stage has made")
	case l.from.graph != g:
		l.to.errorfAt(l.declaredAt, "channel of stage %q, which belongs to another graph", l.from.name)
	case slices.ContainsFunc(g.links, func(other *link) bool { return other.from == l.from && other.to == l.to }):
		l.to.errorfAt(l.declaredAt, "reads stage %q twice; put a stage between them, such as mr.Each with mr.IdentityMapper", l.from.name)
	default:
		g.links = append(g.links, l)
		l.from.read = true
		if l.isLive() || l.connection == dag.PerMachine {
			l.files = new(channelFiles) // written for each stage that reads
		}
		if l.files.owner == nil {
			l.files.owner = l
		}
		return true
	}
	return false
}
