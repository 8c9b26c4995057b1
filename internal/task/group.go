package task

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/taskproc"
	"github.com/hammr/hammr/shuffle/transfer"
	"github.com/hammr/hammr/storage"
)

// groupRun is the NodeGroup that an attempt runs: Nodes in one process, joined by
// its memory. A Node that fails ends the others; why the first one failed is why
// the attempt failed.
type groupRun struct {
	Attempt *Attempt

	graph        dag.Graph
	layout       *dag.Layout
	nodes        []*NodeRun // in order of stages and numbers
	memory       *memory
	keeps        atomic.Bool // something that no checkpoint has: see NotCheckpointable
	whole        atomic.Bool // it cannot be cut either
	laidOut      atomic.Bool
	board        outputBoard
	fetched      fetchedSets
	queues       map[sharedEnd]*sharedQueue
	localStreams transfer.Rendezvous // of streams between its own Nodes
	server       *Server
	firstError   struct {
		sync.Once
		err error
	}
}

// open lays out the group and opens its inputs. The attempt is configured.
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
	if err := g.openSources(); err != nil {
		return err
	}
	g.laidOut.Store(true)
	return nil
}

// resumeNodes gives each Node what it goes on from.
func (g *groupRun) resumeNodes() error {
	if g.Attempt.resumed == nil {
		return nil
	}
	states := g.Attempt.resumed.Nodes
	if len(states) != len(g.nodes) {
		return &unusableCheckpointError{fmt.Errorf("%w: it is of %d nodes, the task has %d", storage.ErrCorrupt, len(states), len(g.nodes))}
	}
	for i, n := range g.nodes {
		if int(states[i].Stage) != n.stage || int(states[i].Node) != n.number {
			return &unusableCheckpointError{fmt.Errorf("%w: it has node %d of stage %d in the place of %v", storage.ErrCorrupt, states[i].Node, states[i].Stage, n)}
		}
		n.resumeFrom(states[i])
	}
	return nil
}

// resumeFrom has the Node go on from what it was at a pause.
func (n *NodeRun) resumeFrom(s *taskproc.NodeState) {
	n.resumed, n.finished = s, s.Finished
	if s.Finished {
		n.result = result{pieces: s.Pieces, published: s.Published}
		n.setFraction(1)
		return
	}
	n.files.mu.closed = s.Pieces
}

// graphOf is the graph of the job, which a Start of plain MapReduce need not
// name.
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

func groupOf(start *taskproc.Start) dag.GroupID {
	switch {
	case start.Graph != nil:
		return dag.GroupID{Class: int(start.GroupClass), Index: int(start.Group)}
	case start.Kind == taskproc.Kind_REDUCE:
		return dag.GroupID{Class: 1, Index: int(start.Part)}
	}
	return dag.GroupID{Index: int(start.Part)}
}

func (g *groupRun) newNode(stage, number int) *NodeRun {
	n := &NodeRun{
		Attempt: g.Attempt, group: g, stage: stage, number: number, collectors: make(map[int]*openCollector),
		inputs:  inputsOf(g.graph, stage, number, func(edge int) []int { return combineSetOf(g.Attempt.Start, edge, number) }),
		outputs: outputsOf(g.graph, stage, number),
	}
	g.Attempt.signals.add(n)
	return n
}

// combineSetOf are the writers whose records a Node combines along a per-machine
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

// single reports whether there is but one Node.
func (g *groupRun) single() bool { return len(g.nodes) == 1 }

// inGang reports whether other attempts run at once with this one.
func (g *groupRun) inGang() bool { return len(g.Attempt.Start.GetBundle().GetGroups()) > 1 }

// node is the Node of a stage that has a number; nil when it is in another group.
func (g *groupRun) node(stage string, number int) *NodeRun {
	for _, n := range g.nodes {
		if n.number == number && n.Stage() == stage {
			return n
		}
	}
	return nil
}

// nodesOf is how many Nodes the named stage has.
func (g *groupRun) nodesOf(stage string) int {
	return g.graph.Stages[g.graph.StageIndex(stage)].Nodes
}

// taskOf is the number under which the outputs of a Node are known. A map that
// was cut from another has one of its own.
func (g *groupRun) taskOf(n *NodeRun) int32 {
	if g.single() {
		return g.Attempt.Start.Task
	}
	return int32(n.number)
}

// run carries out all Nodes and returns the attempt's last message. ctx is that of
// the connection.
func (g *groupRun) run(ctx context.Context, prog Program) (*taskproc.FromTask, error) {
	if err := g.fetchCheckpoint(); err != nil {
		return nil, err
	}
	defer g.close()
	for {
		g.runNodes(prog)
		if g.firstError.err != nil {
			return nil, g.awaitCause(ctx, g.firstError.err)
		}
		if !slices.ContainsFunc(g.nodes, func(n *NodeRun) bool { return !n.finished }) {
			return &taskproc.FromTask{Message: &taskproc.FromTask_Finished{Finished: g.finishedMessage()}}, nil
		}
		last, err := g.checkpoint()
		if !errors.As(err, new(*unwrittenError)) || g.hasStreams() {
			return last, err
		}
		if err := g.resumeInPlace(err); err != nil {
			return nil, err
		}
	}
}

// fetchCheckpoint has what the attempt goes on from lie on this machine.
func (g *groupRun) fetchCheckpoint() error {
	if g.Attempt.resumed == nil {
		return nil
	}
	for _, n := range g.nodes {
		if !n.finished {
			n.enterPhase(taskproc.PhaseResume)
		}
	}
	if err := g.Attempt.fetchCheckpointFiles(); err != nil {
		return err
	}
	return g.resumeNodes()
}

// runNodes runs those that have work to do.
func (g *groupRun) runNodes(prog Program) {
	if g.single() {
		_ = g.nodes[0].run(prog) // fail has the error
		return
	}
	var workers sync.WaitGroup
	for _, n := range g.nodes {
		if !n.finished {
			workers.Go(func() { _ = n.run(prog) })
		}
	}
	workers.Wait()
}

// hasStreams reports whether a Node that was paused has streams to go on with, both of
// whose ends have ended.
func (g *groupRun) hasStreams() bool {
	return slices.ContainsFunc(g.nodes, func(n *NodeRun) bool {
		return !n.finished && (len(channelsOf(n.outputs, dag.ChannelTCP)) > 0 || n.awaitsStreams())
	})
}

// close closes what Nodes that were paused have left open.
func (g *groupRun) close() {
	for _, n := range g.nodes {
		if n.result.state != nil {
			n.close()
		}
	}
}

// causeGrace is how long at most an attempt that has lost a stream waits to be
// killed.
const causeGrace = 5 * time.Second

// awaitCause is the error to be told. Who loses a stream has most likely lost the
// Node at its other end, whose failure ends the whole gang: that is the cause to
// be told, so this attempt waits a while to be killed before it tells its own.
func (g *groupRun) awaitCause(ctx context.Context, err error) error {
	if !errors.As(err, new(*streamError)) {
		return err
	}
	timer := time.NewTimer(min(causeGrace, g.Attempt.Conf.Duration(conf.ChannelConnectTimeout)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// fail notes why the attempt fails, if nothing has been noted yet, and ends all
// Nodes.
func (g *groupRun) fail(err error) {
	g.firstError.Do(func() {
		g.firstError.err = err
		g.Attempt.cancel(err)
	})
}

// finishedMessage describes what all Nodes have left.
func (g *groupRun) finishedMessage() *taskproc.Finished {
	done := new(taskproc.Finished)
	if m := g.nodes[0].source; m != nil && g.single() {
		done.Range = taskproc.FromRange(m.processed)
	}
	for _, n := range g.nodes {
		done.Pieces = append(done.Pieces, n.result.pieces...)
		done.Outputs = append(done.Outputs, n.result.published...)
	}
	for _, p := range done.Pieces {
		done.OutputBytes += p.Length
		done.OutputRecords += p.Records
	}
	for _, o := range done.Outputs {
		for _, b := range o.PartitionBytes {
			done.OutputBytes += b
		}
	}
	return done
}

// abort removes what no finished attempt needs.
func (g *groupRun) abort() {
	for _, n := range g.nodes {
		n.files.abort()
	}
}

// progress is the attempt's state as a message: the share of its work that its
// Nodes have done, and what the first of them does that is at work.
func (g *groupRun) progress() *taskproc.Progress {
	p := &taskproc.Progress{Counters: counterMessages(g.Attempt.Counters), Activity: g.Attempt.signs.Load(), MemoryBytes: g.Attempt.resident.Load()}
	last := 0.0
	for _, n := range g.nodes {
		phase, fraction := n.progress()
		p.Fraction += fraction / float64(len(g.nodes))
		p.UnwrittenBytes += n.unwritten()
		if p.Phase == "" || last == 1 {
			p.Phase, last = phase, fraction
		}
	}
	p.Fetched = g.fetched.takeChanges()
	g.Attempt.mu.Lock()
	defer g.Attempt.mu.Unlock()
	p.Status = g.Attempt.mu.status
	return p
}

// inEngine reports whether a Node is where no user code runs record by record:
// sorting and copying, a checkpoint too, show life by themselves, and so does waiting for other
// Nodes.
func (g *groupRun) inEngine() bool {
	return slices.ContainsFunc(g.nodes, func(n *NodeRun) bool {
		phase, _ := n.progress()
		return phase == taskproc.PhaseResume || phase == "copy" || phase == "sort" || n.waiting.Load() > 0
	})
}

// isKill reports whether an attempt ended in err because ctx, which is that of
// its connection, did.
func isKill(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, errKilled) || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
