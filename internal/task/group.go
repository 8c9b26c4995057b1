package task

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// groupRun runs the NodeGroup of an attempt: Nodes in one process, joined by its memory. A
// Node that fails ends the others, and its error becomes the attempt's.
//
//	open: nodes, memory, queues, sources ─► run: fetch the checkpoint's files
//	                                          └─► runNodes ─► Finished
//	                                                 ▲ │ └──► the first error
//	                                                 │ └────► checkpoint ─► Checkpointed
//	                                                 └── not written: resumeInPlace
//
// The fields up to queues are set by open, before the Nodes run. An order may come before
// that: what it does to the Nodes depends on laidOut.
type groupRun struct {
	Attempt *Attempt

	graph             dag.Graph                  // graph of the job
	layout            *dag.Layout                // layout of the graph
	nodes             []*NodeRun                 // in order of stages and numbers
	memory            *memory                    // memory of all collectors and intakes
	notCheckpointable atomic.Bool                // some state is in no checkpoint; see NotCheckpointable
	notSplittable     atomic.Bool                // the attempt cannot be split either
	laidOut           atomic.Bool                // nodes is complete
	board             outputBoard                // outputs that the reduces of the group can read
	fetched           fetchedSets                // outputs that the reduces have taken in
	queues            map[sharedEnd]*sharedQueue // queues in shared memory; new ones after a declined checkpoint
	localStreams      transfer.Rendezvous        // streams between its own Nodes
	ownSides          SideTables                 // tables of a group whose server has none
	server            *Server                    // server of the process, shared by its attempts
	firstError        struct {
		sync.Once
		err error
	}
}

// open lays out the group and opens its inputs. The attempt is configured. The Nodes that a
// checkpoint shows as finished get no memory and no inputs.
func (g *groupRun) open() error {
	g.graph = graphOf(g.Attempt.Start)
	g.layout = g.graph.Layout()
	id := groupOf(g.Attempt.Start)
	if id.Class < 0 || id.Class >= len(g.layout.Groups) || id.Index < 0 || id.Index >= g.layout.Groups[id.Class].Count {
		return &FatalError{Err: fmt.Errorf("group %d of class %d: not in the job's graph", id.Index, id.Class)}
	}
	for _, span := range g.layout.Nodes(id) {
		for number := span.First; number < span.End; number++ {
			g.nodes = append(g.nodes, g.newNode(span.Stage, number))
		}
	}
	if g.single() {
		g.nodes[0].number = int(g.Attempt.Start.Part)
	}
	if err := g.resumeNodes(); err != nil {
		return err
	}
	ends := 0
	for _, n := range g.nodes {
		if !n.finished {
			ends += len(fileChannels(n.inputs)) + len(fileChannels(n.outputs))
			g.fetched.expect(n.inputs)
		}
	}
	g.memory = newMemory(int64(len(g.nodes))*int64(g.Attempt.Conf.Int(conf.SortMB))<<20, ends)
	g.openShared()
	g.sideTables().keepOnly(g.Attempt.Start.JobId, g.fileInputs())
	if err := g.openSources(); err != nil {
		return err
	}
	g.laidOut.Store(true)
	return nil
}

// resumeNodes gives each Node its state in the checkpoint.
func (g *groupRun) resumeNodes() error {
	if g.Attempt.resumed == nil {
		return nil
	}
	states := g.Attempt.resumed.Nodes
	if len(states) != len(g.nodes) {
		return &unusableCheckpointError{fmt.Errorf("%w: checkpoint has %d nodes, the task has %d", storage.ErrCorrupt, len(states), len(g.nodes))}
	}
	for i, n := range g.nodes {
		if int(states[i].Stage) != n.stage || int(states[i].Node) != n.number {
			return &unusableCheckpointError{fmt.Errorf("%w: checkpoint has node %d of stage %d instead of %v", storage.ErrCorrupt, states[i].Node, states[i].Stage, n)}
		}
		n.resumeFrom(states[i])
	}
	return nil
}

// resumeFrom makes the Node resume from its state in a checkpoint.
func (n *NodeRun) resumeFrom(s *taskproc.NodeState) {
	n.resumed, n.finished = s, s.Finished
	if s.Finished {
		n.result = result{pieces: s.Pieces, published: s.Published}
		n.setFraction(1)
		return
	}
	n.files.mu.closed = s.Pieces
}

// graphOf returns the graph of the job. A Start of plain MapReduce need not have one.
func graphOf(start *taskproc.Start) dag.Graph {
	if start.Graph != nil {
		return taskproc.ToGraph(start.Graph)
	}
	maps, reduces := int(start.Maps), int(start.Reduces)
	if start.Kind == taskproc.Kind_REDUCE {
		reduces = max(reduces, int(start.Part)+1)
	} else {
		maps = max(maps, int(start.Part)+1)
	}
	return dag.MapReduce(max(1, maps), reduces)
}

// groupOf returns the group that the attempt runs. Without a graph, class 0 is the maps and
// class 1 the reduces, as in dag.MapReduce.
func groupOf(start *taskproc.Start) dag.GroupID {
	switch {
	case start.Graph != nil:
		return dag.GroupID{Class: int(start.GroupClass), Index: int(start.Group)}
	case start.Kind == taskproc.Kind_REDUCE:
		return dag.GroupID{Class: 1, Index: int(start.Part)}
	}
	return dag.GroupID{Index: int(start.Part)}
}

// newNode makes a Node with its channels, and makes it poll signals.
func (g *groupRun) newNode(stage, number int) *NodeRun {
	n := &NodeRun{
		Attempt: g.Attempt, group: g, stage: stage, number: number, collectors: make(map[int]*openCollector),
		inputs:  inputsOf(g.graph, stage, number, func(edge int) []int { return combineSetOf(g.Attempt.Start, edge, number) }),
		outputs: outputsOf(g.graph, stage, number),
	}
	g.Attempt.signals.add(n)
	return n
}

// combineSetOf returns the writers whose records a Node combines along a per-machine
// edge.
func combineSetOf(start *taskproc.Start, edge, node int) []int {
	writers := []int{}
	for _, s := range start.CombineSets {
		if int(s.Edge) == edge && int(s.Node) == node {
			for _, w := range s.Writers {
				writers = append(writers, int(w))
			}
		}
	}
	return writers
}

// openSources gives each source Node its split.
func (g *groupRun) openSources() (err error) {
	for _, n := range g.nodes {
		if len(n.inputs) > 0 || n.finished {
			continue
		}
		if n.source, err = newMap(n, g.splitOf(n)); err != nil {
			return err
		}
	}
	return nil
}

// splitOf returns the split of a source Node; nil if it was given none.
func (g *groupRun) splitOf(n *NodeRun) *taskproc.Split {
	for _, s := range g.Attempt.Start.Sources {
		if int(s.Stage) == n.stage && int(s.Node) == n.number {
			return s.Split
		}
	}
	if g.single() {
		return g.Attempt.Start.Split
	}
	return nil
}

// single reports whether the group has only one Node.
func (g *groupRun) single() bool { return len(g.nodes) == 1 }

// inGang reports whether other attempts run together with this one.
func (g *groupRun) inGang() bool { return len(g.Attempt.Start.GetBundle().GetGroups()) > 1 }

// node returns a Node by stage and number, nil if another group has it.
func (g *groupRun) node(stage string, number int) *NodeRun {
	for _, n := range g.nodes {
		if n.number == number && n.Stage() == stage {
			return n
		}
	}
	return nil
}

// nodesOf returns the number of Nodes of the named stage.
func (g *groupRun) nodesOf(stage string) int {
	return g.graph.Stages[g.graph.StageIndex(stage)].Nodes
}

// taskOf returns the number under which the outputs of a Node are known. A map that was
// split from another has a number of its own.
func (g *groupRun) taskOf(n *NodeRun) int32 {
	if g.single() {
		return g.Attempt.Start.Task
	}
	return int32(n.number)
}
