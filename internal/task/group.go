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

// groupRun runs the NodeGroup of an attempt: Nodes in one process, joined by its
// memory. A Node that fails ends the others, and its error is that of the attempt.
type groupRun struct {
	Attempt *Attempt

	graph             dag.Graph
	layout            *dag.Layout
	nodes             []*NodeRun // in order of stages and numbers
	memory            *memory
	notCheckpointable atomic.Bool // it has state that no checkpoint holds: see NotCheckpointable
	notSplittable     atomic.Bool // it cannot be split either
	laidOut           atomic.Bool // nodes is complete
	board             outputBoard
	fetched           fetchedSets
	queues            map[sharedEnd]*sharedQueue
	localStreams      transfer.Rendezvous // streams between its own Nodes
	server            *Server
	firstError        struct {
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

// resumeNodes gives each Node its state in the checkpoint.
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

// run runs all Nodes and returns the attempt's last message. ctx is that of the
// connection.
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

// fetchCheckpoint copies the checkpoint's files to this machine, if they are elsewhere.
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

// runNodes runs the Nodes that are not finished.
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

// hasStreams reports whether a checkpointed Node has streams that are not finished.
// They are closed at both ends, so the Node cannot continue here.
func (g *groupRun) hasStreams() bool {
	return slices.ContainsFunc(g.nodes, func(n *NodeRun) bool {
		return !n.finished && (len(channelsOf(n.outputs, dag.ChannelTCP)) > 0 || n.awaitsStreams())
	})
}

// close closes what checkpointed Nodes have left open.
func (g *groupRun) close() {
	for _, n := range g.nodes {
		if n.result.state != nil {
			n.close()
		}
	}
}

// causeGrace is how long at most an attempt that has lost a stream waits to be killed.
const causeGrace = 5 * time.Second

// awaitCause returns the error to report. An attempt that loses a stream has most
// likely lost the Node at its other end, whose failure ends the whole gang. So the
// attempt waits to be killed before it reports an error that is not the cause.
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

// fail sets the error of the attempt, if it has none yet, and ends all Nodes.
func (g *groupRun) fail(err error) {
	g.firstError.Do(func() {
		g.firstError.err = err
		g.Attempt.cancel(err)
	})
}

// finishedMessage describes the output of all Nodes.
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

// abort removes files that only a finished attempt needs.
func (g *groupRun) abort() {
	for _, n := range g.nodes {
		n.files.abort()
	}
}

// progress is the progress report of the attempt: the mean fraction of its Nodes, and
// the phase of the first Node at work.
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

// inEngine reports whether a Node is in a phase without user code. Sorting, copying and
// fetching a checkpoint count as signs of life, and so does waiting for other Nodes.
func (g *groupRun) inEngine() bool {
	return slices.ContainsFunc(g.nodes, func(n *NodeRun) bool {
		phase, _ := n.progress()
		return phase == taskproc.PhaseResume || phase == "copy" || phase == "sort" || n.waiting.Load() > 0
	})
}

// isKill reports whether an attempt ended in err because ctx, that of its connection,
// ended.
func isKill(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, errKilled) || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
