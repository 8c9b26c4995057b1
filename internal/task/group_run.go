package task

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/internal/rpc/taskproc"
)

// run runs all Nodes and returns the attempt's last message. ctx ends with the connection. It
// repeats after a checkpoint that could not be written, as long as no streams have ended: the
// Nodes then run again from their states in memory.
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

// isKill reports whether an attempt ended in err because ctx, that of its connection,
// ended.
func isKill(ctx context.Context, err error) bool {
	return ctx.Err() != nil && (errors.Is(err, errKilled) || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx)))
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
		done.OutputBytes += o.Bytes
	}
	return done
}

// abort removes files that only a finished attempt needs.
func (g *groupRun) abort() {
	for _, n := range g.nodes {
		n.files.abort()
	}
}

// laidOutNodes returns the Nodes, or none while open is still appending them: orders and the
// ticker of serve run in goroutines of their own.
func (g *groupRun) laidOutNodes() []*NodeRun {
	if !g.laidOut.Load() {
		return nil
	}
	return g.nodes
}

// progress returns the progress report of the attempt: the mean fraction of its Nodes, and
// the phase of the first Node at work. It is also called while no Node runs.
func (g *groupRun) progress() *taskproc.Progress {
	p := &taskproc.Progress{Counters: counterMessages(g.Attempt.Counters), Activity: g.Attempt.activity.Load(), MemoryBytes: g.Attempt.resident.Load()}
	last, nodes := 0.0, g.laidOutNodes()
	for _, n := range nodes {
		phase, fraction := n.progress()
		p.Fraction += fraction / float64(len(nodes))
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

// inEngine reports whether a Node is in a phase without user code. Sorting and fetching a
// checkpoint count as activity, and so does waiting for other Nodes. Copying counts
// while it waits for outputs that other Nodes have yet to write. A reduce that knows all
// outputs and copies none is stuck.
func (g *groupRun) inEngine() bool {
	return slices.ContainsFunc(g.laidOutNodes(), func(n *NodeRun) bool {
		phase, _ := n.progress()
		return phase == taskproc.PhaseResume || phase == "sort" || n.waiting.Load() > 0
	})
}
