package task

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Sizes of batches. A Node with many readers makes smaller ones, so that all open batches of
// an edge take at most batchesPerEdge.
const (
	mostBatch      = 256 << 10 // bytes
	leastBatch     = 8 << 10
	batchesPerEdge = 16 << 20 // bytes of all open batches along an edge
)

// StreamWriter sends records to one reader. One goroutine uses it. It blocks while the
// reader is behind.
type StreamWriter struct {
	node    *NodeRun
	channel Channel
	peer    int            // number of the reader in its stage
	to      io.WriteCloser // the opened end of the stream
	frames  *frameWriter   // writes to to, and marks the Node as waiting meanwhile
	err     error          // first error; all calls return it
	closed  bool           // set by Close or End
}

// SendStream returns the stream to one reader along a TCP edge; the same each time. The
// caller closes it.
func (n *NodeRun) SendStream(c Channel, peer int) (*StreamWriter, error) {
	end := streamEnd{c.Edge, peer}
	if w := n.streams.writers[end]; w != nil {
		return w, nil
	}
	w := &StreamWriter{node: n, channel: c, peer: peer}
	opening := n.streams.out[end]
	if opening == nil {
		return nil, w.wrapError(errNoStream)
	}
	defer n.beginWait()()
	<-opening.done // at the latest when the Node's context ends
	if opening.err != nil {
		return nil, w.wrapError(&streamError{opening.err})
	}
	w.to = opening.end
	batch := min(max(batchesPerEdge/len(c.Peers), leastBatch), mostBatch)
	w.frames = newFrameWriter(waitingWriter{w}, batch)
	n.streams.writers[end] = w
	return w, nil
}

var errNoStream = errors.New("there is no such stream")

// wrapError adds the stream to an error. If the attempt has ended, its cause is the
// error.
func (w *StreamWriter) wrapError(err error) error {
	if w.node.Attempt.ctx.Err() != nil {
		return context.Cause(w.node.Attempt.ctx)
	}
	return fmt.Errorf("stream from %v to %s %d: %w", w.node, w.channel.To, w.peer, err)
}

// Write sends a record, at the latest with Close. It copies its arguments. After an
// error all calls return that error.
func (w *StreamWriter) Write(key, value []byte) error {
	if w.err == nil {
		if w.err = w.frames.add(key, value); w.err != nil {
			w.err = w.wrapError(w.err)
		}
	}
	return w.err
}

// Close sends the rest and ends the stream without an error. It returns when all has been sent. It
// may be called twice.
func (w *StreamWriter) Close() error { return w.End(false) }

// End ends the stream as Close does, with a mark if the Node was checkpointed.
func (w *StreamWriter) End(checkpointed bool) error {
	if w.closed || w.err != nil {
		w.closed = true
		return w.err
	}
	w.closed = true
	defer w.node.beginWait()()
	kind := byte(frameEnd)
	if checkpointed {
		kind = frameCheckpoint
	}
	err := w.frames.end(kind)
	if err == nil {
		if err = w.to.Close(); err != nil {
			err = &streamError{err}
		}
	}
	if err != nil {
		w.err = w.wrapError(err)
	}
	return w.err
}

// waitingWriter marks the Node as waiting while a batch is sent.
type waitingWriter struct{ w *StreamWriter }

// Write blocks while the reader is behind, for which the Node must not time out.
func (w waitingWriter) Write(b []byte) (int, error) {
	defer w.w.node.beginWait()()
	n, err := w.w.to.Write(b)
	if err != nil {
		err = &streamError{err}
	}
	return n, err
}
