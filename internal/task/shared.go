package task

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/hammr/hammr/dag"
)

// sharedDepth is how many batches a queue takes before its writer blocks.
const sharedDepth = 4

// sharedEnd identifies one reader of an edge through shared memory.
type sharedEnd struct{ edge, reader int }

// sharedQueue carries batches to one reader. A writer that fails leaves it open: the group's
// context ends then. The last writer that closes, or is checkpointed, closes it.
type sharedQueue struct {
	batches      chan sharedBatch // closed when all writers have closed
	writers      atomic.Int32     // number of writers that have not closed
	checkpointed atomic.Bool      // whether one of them was checkpointed
}

// sharedBatch is a batch and the number of the Node that sent it.
type sharedBatch struct {
	batch any
	from  int
}

// leave counts a writer that has closed.
func (q *sharedQueue) leave() {
	if q.writers.Add(-1) == 0 {
		close(q.batches)
	}
}

// openShared makes the queues of all edges through shared memory; both ends of each are
// in the group. A finished Node sends nothing.
func (g *groupRun) openShared() {
	g.queues = make(map[sharedEnd]*sharedQueue)
	for _, n := range g.nodes {
		for _, c := range channelsOf(n.inputs, dag.ChannelSHM) {
			q := &sharedQueue{batches: make(chan sharedBatch, sharedDepth)}
			writers := 0
			for _, peer := range c.Peers {
				if w := g.node(c.From, peer); w == nil || !w.finished {
					writers++
				}
			}
			q.writers.Store(int32(writers))
			if writers == 0 {
				close(q.batches)
			}
			g.queues[sharedEnd{c.Edge, n.number}] = q
		}
	}
}

// SharedWriter sends batches to one reader in the same process. One goroutine uses it.
type SharedWriter struct {
	node   *NodeRun
	queue  *sharedQueue // nil if there is no such reader
	to     string       // the reader, for errors
	closed bool         // set by Close or End
}

// SendShared returns the writer to one reader along an edge through shared memory; the
// same each time. The caller closes it.
func (n *NodeRun) SendShared(c Channel, peer int) *SharedWriter {
	end := sharedEnd{c.Edge, peer}
	if w := n.shared[end]; w != nil {
		return w
	}
	w := &SharedWriter{node: n, queue: n.group.queues[end], to: fmt.Sprintf("%s %d", c.To, peer)}
	if n.shared == nil {
		n.shared = make(map[sharedEnd]*SharedWriter)
	}
	n.shared[end] = w
	return w
}

// Send sends a batch. The reader owns it from then on; the two agree on its type. Send
// blocks while the queue is full. It returns the cause if ctx or the attempt ends.
func (w *SharedWriter) Send(ctx context.Context, batch any) error {
	if w.queue == nil || w.closed {
		return fmt.Errorf("node %v: no open shared memory to %s", w.node, w.to)
	}
	item := sharedBatch{batch, w.node.number}
	select {
	case w.queue.batches <- item:
		return nil
	default:
	}
	defer w.node.beginWait()()
	select {
	case w.queue.batches <- item:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.node.Attempt.ctx.Done():
		return context.Cause(w.node.Attempt.ctx)
	}
}

// Close ends what is sent. It may be called twice.
func (w *SharedWriter) Close() { w.End(false) }

// End closes the queue as Close does, with a mark if the Node was checkpointed.
func (w *SharedWriter) End(checkpointed bool) {
	if w.queue == nil || w.closed {
		return
	}
	w.closed = true
	if checkpointed {
		w.queue.checkpointed.Store(true)
	}
	w.queue.leave()
}

// SharedReader receives the batches of all writers of an edge. One goroutine uses it.
type SharedReader struct {
	node  *NodeRun
	queue *sharedQueue // nil if there is no such edge
	edge  Channel
}

// ReceiveShared returns the reader of an edge through shared memory. What is not read
// by the end of the Node is discarded.
func (n *NodeRun) ReceiveShared(c Channel) *SharedReader {
	return &SharedReader{node: n, queue: n.group.queues[sharedEnd{c.Edge, n.number}], edge: c}
}

// Receive waits for the next batch. The batches of one writer come in order. ok is
// false when all writers have closed, or were checkpointed: see NodeRun.Checkpointed.
// The error is the cause if ctx or the attempt ends.
func (r *SharedReader) Receive(ctx context.Context) (batch any, from int, ok bool, err error) {
	if r.queue == nil {
		return nil, 0, false, fmt.Errorf("node %v: it does not read edge %v from shared memory", r.node, r.edge)
	}
	var item sharedBatch
	select {
	case item, ok = <-r.queue.batches:
		return r.received(item, ok)
	default:
	}
	defer r.node.beginWait()()
	select {
	case item, ok = <-r.queue.batches:
		return r.received(item, ok)
	case <-ctx.Done():
		return nil, 0, false, context.Cause(ctx)
	case <-r.node.Attempt.ctx.Done():
		return nil, 0, false, context.Cause(r.node.Attempt.ctx)
	}
}

// received returns a batch. At the end it reports to the Node how the edge has ended.
func (r *SharedReader) received(item sharedBatch, ok bool) (any, int, bool, error) {
	if !ok {
		r.node.liveEnded(r.edge.Edge, r.queue.checkpointed.Load(), nil)
	}
	return item.batch, item.from, ok, nil
}

// finishShared ends what the Node sends and receives in memory, with a mark if it was
// checkpointed. Readers that it never wrote to get nothing. A queue that it wrote to
// and did not close is an error, since it may be incomplete.
func (n *NodeRun) finishShared(checkpointed bool) error {
	for _, c := range channelsOf(n.outputs, dag.ChannelSHM) {
		for _, peer := range c.Peers {
			w := n.shared[sharedEnd{c.Edge, peer}]
			if w != nil && !w.closed {
				return fmt.Errorf("node %v: shared memory to %s %d was not closed", n, c.To, peer)
			}
			if w == nil {
				n.SendShared(c, peer).End(checkpointed)
			}
		}
	}
	for _, c := range channelsOf(n.inputs, dag.ChannelSHM) {
		r := n.ReceiveShared(c)
		for ok := true; ok; {
			var err error
			if _, _, ok, err = r.Receive(n.Attempt.ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
