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
)

// group is the NodeGroup that an attempt runs: Nodes in one process, joined by
// its memory. A Node that fails ends the others; why the first one failed is why
// the attempt failed.
type group struct {
	*Attempt

	graph    dag.Graph
	layout   *dag.Layout
	nodes    []*Node // in order of stages and numbers
	memory   *memory
	pausable bool // it may be stopped and paused: see mayPause
	laidOut  atomic.Bool
	board    bulletin
	fetched  fetched
	queues   map[sharedEnd]*sharedQueue
	inside   transfer.Rendezvous // of streams between its own Nodes
	server   *Server
	first    struct {
		sync.Once
		err error
	}
}

// open lays out the group and opens its inputs. The attempt is configured.
func (g *group) open() error {
	g.graph = graphOf(g.Start)
	g.layout = g.graph.Layout()
	id := groupOf(g.Start)
	if id.Class < 0 || id.Class >= len(g.layout.Groups) || id.Index < 0 || id.Index >= g.layout.Groups[id.Class].Count {
		return &FatalError{Err: fmt.Errorf("group %d of class %d: not in the job's graph", id.Index, id.Class)}
	}
	for _, span := range g.layout.Nodes(id) {
		for number := span.First; number < span.End; number++ {
			g.nodes = append(g.nodes, g.newNode(span.Stage, number))
		}
	}
	if g.single() {
		g.nodes[0].number = int(g.Start.Part)
		g.nodes[0].files.mu.closed = g.resumed.GetPieces()
	}
	g.pausable = g.mayPause()
	ends := 0
	for _, n := range g.nodes {
		ends += len(fileChannels(n.inputs)) + len(fileChannels(n.outputs))
		g.fetched.expect(n.inputs)
	}
	g.memory = newMemory(int64(len(g.nodes))*int64(g.Conf.Int(conf.SortMB))<<20, ends)
	g.openShared()
	if err := g.openSources(); err != nil {
		return err
	}
	g.laidOut.Store(true)
	return nil
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

func (g *group) newNode(stage, number int) *Node {
	n := &Node{
		Attempt: g.Attempt, group: g, stage: stage, number: number, collectors: make(map[int]*openCollector),
		inputs:  inputsOf(g.graph, stage, number, func(edge int) []int { return shareOf(g.Start, edge, number) }),
		outputs: outputsOf(g.graph, stage, number),
	}
	g.signal.watchedBy(n)
	return n
}

// shareOf are the writers whose records a Node combines along a per-machine
// edge.
func shareOf(start *taskproc.Start, edge, node int) []int {
	writers := []int{}
	for _, s := range start.Shares {
		if int(s.Edge) == edge && int(s.Node) == node {
			for _, w := range s.Writers {
				writers = append(writers, int(w))
			}
		}
	}
	return writers
}

// openSources gives each source Node its split.
func (g *group) openSources() (err error) {
	for _, n := range g.nodes {
		if len(n.inputs) > 0 {
			continue
		}
		if n.source, err = newMap(n, g.splitOf(n)); err != nil {
			return err
		}
	}
	return nil
}

func (g *group) splitOf(n *Node) *taskproc.Split {
	for _, s := range g.Start.Sources {
		if int(s.Stage) == n.stage && int(s.Node) == n.number {
			return s.Split
		}
	}
	if g.single() {
		return g.Start.Split
	}
	return nil
}

// single reports whether there is but one Node.
func (g *group) single() bool { return len(g.nodes) == 1 }

// mayPause reports whether the attempt can end in the middle of its work, to go
// on elsewhere: that takes a single Node that reads a split and writes files, or
// reads files and writes output. Others go on when they are told to pause or to
// stop.
func (g *group) mayPause() bool {
	if !g.single() {
		return false
	}
	n := g.nodes[0]
	isFile := func(c Channel) bool { return c.Kind == dag.ChannelFile }
	if len(n.inputs) == 0 {
		return len(fileChannels(n.outputs)) == len(n.outputs)
	}
	return len(n.outputs) == 0 && !slices.ContainsFunc(n.inputs, func(c Channel) bool { return !isFile(c) })
}

// nodesOf is how many Nodes the named stage has.
func (g *group) nodesOf(stage string) int {
	return g.graph.Stages[g.graph.StageIndex(stage)].Nodes
}

// taskOf is the number under which the outputs of a Node are known. A map that
// was cut from another has one of its own.
func (g *group) taskOf(n *Node) int32 {
	if g.single() {
		return g.Start.Task
	}
	return int32(n.number)
}

// run carries out all Nodes and returns the attempt's last message. ctx is that of
// the connection.
func (g *group) run(ctx context.Context, prog Program) (*taskproc.FromTask, error) {
	if g.single() {
		_ = g.nodes[0].run(prog) // fail has the error
	} else {
		var workers sync.WaitGroup
		for _, n := range g.nodes {
			workers.Go(func() { _ = n.run(prog) })
		}
		workers.Wait()
	}
	if g.first.err != nil {
		return nil, g.awaitCause(ctx, g.first.err)
	}
	if last := g.nodes[0].result.paused; last != nil {
		return last, nil
	}
	return &taskproc.FromTask{Message: &taskproc.FromTask_Done{Done: g.done()}}, nil
}

// causeGrace is how long at most an attempt that has lost a stream waits to be
// killed.
const causeGrace = 5 * time.Second

// awaitCause is the error to be told. Who loses a stream has most likely lost the
// Node at its other end, whose failure ends the whole gang: that is the cause to
// be told, so this attempt waits a while to be killed before it tells its own.
func (g *group) awaitCause(ctx context.Context, err error) error {
	if !errors.As(err, new(*streamError)) {
		return err
	}
	timer := time.NewTimer(min(causeGrace, g.Conf.Duration(conf.ChannelConnectTimeout)))
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
func (g *group) fail(err error) {
	g.first.Do(func() {
		g.first.err = err
		g.cancel(err)
	})
}

// done describes what all Nodes have left.
func (g *group) done() *taskproc.Done {
	done := new(taskproc.Done)
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
func (g *group) abort() {
	for _, n := range g.nodes {
		n.files.abort()
	}
}

// progress is the attempt's state as a message: the share of its work that its
// Nodes have done, and what the first of them does that is at work.
func (g *group) progress() *taskproc.Progress {
	p := &taskproc.Progress{Counters: counterMessages(g.Counters), Signs: g.signs.Load(), MemoryBytes: g.resident.Load()}
	last := 0.0
	for _, n := range g.nodes {
		phase, fraction := n.progress()
		p.Fraction += fraction / float64(len(g.nodes))
		p.UnwrittenBytes += n.unwritten()
		if p.Phase == "" || last == 1 {
			p.Phase, last = phase, fraction
		}
	}
	p.Fetched = g.fetched.news()
	g.Attempt.mu.Lock()
	defer g.Attempt.mu.Unlock()
	p.Status = g.Attempt.mu.status
	return p
}

// inEngine reports whether a Node is where no user code runs record by record:
// sorting and copying show life by themselves, and so does waiting for other
// Nodes.
func (g *group) inEngine() bool {
	return slices.ContainsFunc(g.nodes, func(n *Node) bool {
		phase, _ := n.progress()
		return phase == "copy" || phase == "sort" || n.waiting.Load() > 0
	})
}

// isKill reports whether an attempt ended in err because ctx, which is that of
// its connection, did.
func isKill(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, errKilled) || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
}
