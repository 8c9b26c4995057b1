package task

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/hammr/hammr/internal/data/poison"
)

// StreamReader receives the records of all writers along a TCP edge. One goroutine uses
// it. It reads from all writers at once, so that none waits for another: batches come
// in the order of their arrival, the records of one writer in the order in which it
// sent them.
//
// Goroutines: one for each writer, which ends with its stream or with the Node, and one
// that waits for them.
type StreamReader struct {
	node         *NodeRun
	channel      Channel
	peers        []int          // writers that had not finished before this attempt
	checkpointed []bool         // by peer, once batches is closed: the writer ended with a mark
	batches      chan inBatch   // closed when all streams have ended
	buffers      sync.Pool      // pool of *[]byte
	workers      sync.WaitGroup // counts the goroutine that waits for all writers

	payload      []byte  // rest of the current batch
	records      int     // number of records in payload
	buffer       *[]byte // buffer of the current batch; returns to buffers with the next one
	from         int     // number of the Node that sent the batch
	key, value   []byte  // key and value of the current record; views of payload
	err          error   // first error
	poison       bool    // overwrite a batch once its records have been read
	endsReported bool    // the Node knows how its writers have ended
}

// inBatch is a batch that has arrived, or the reason why a stream broke.
type inBatch struct {
	buffer  *[]byte // its payload; from the pool
	records int     // number of records in the payload
	from    int
	err     error // reason why the stream has broken; nil: a batch
}

// ReceiveStreams returns the reader of a TCP edge; the same each time.
func (n *NodeRun) ReceiveStreams(c Channel) (*StreamReader, error) {
	if r := n.streams.readers[c.Edge]; r != nil {
		return r, nil
	}
	r := &StreamReader{node: n, channel: c, peers: n.unfinishedPeers(c), batches: make(chan inBatch), poison: n.Poisoned()}
	r.checkpointed = make([]bool, len(r.peers))
	for _, peer := range r.peers {
		if n.streams.in[streamEnd{c.Edge, peer}] == nil {
			return nil, r.wrapError(peer, errNoStream)
		}
	}
	n.streams.readers[c.Edge] = r
	var writers sync.WaitGroup
	for i, peer := range r.peers {
		writers.Go(func() { r.checkpointed[i] = r.receive(peer, n.streams.in[streamEnd{c.Edge, peer}]) })
	}
	r.workers.Go(func() {
		writers.Wait()
		close(r.batches)
	})
	return r, nil
}

// wrapError adds the stream to an error. If the attempt has ended, its cause is the error.
func (r *StreamReader) wrapError(peer int, err error) error {
	if r.node.Attempt.ctx.Err() != nil {
		return context.Cause(r.node.Attempt.ctx)
	}
	return fmt.Errorf("stream from %s %d to %v: %w", r.channel.From, peer, r.node, err)
}

// receive passes on the batches of one writer, and reports whether it ended with a
// mark.
func (r *StreamReader) receive(peer int, opening *opening[io.ReadCloser]) (checkpointed bool) {
	<-opening.done // at the latest when the Node's context ends
	if opening.err != nil {
		r.pass(inBatch{from: peer, err: r.wrapError(peer, &streamError{opening.err})})
		return false
	}
	frames := &frameReader{r: opening.end}
	for {
		buffer, _ := r.buffers.Get().(*[]byte)
		if buffer == nil {
			buffer = new([]byte)
		}
		var batch inBatch
		batch.buffer, batch.from = buffer, peer
		*buffer, batch.records, batch.err = frames.next(*buffer)
		if batch.err == io.EOF || batch.err == errWriterCheckpointed {
			return batch.err == errWriterCheckpointed
		}
		if batch.err != nil {
			batch.err = r.wrapError(peer, &streamError{batch.err})
		}
		if !r.pass(batch) || batch.err != nil {
			return false
		}
	}
}

// pass hands a batch to the Node, as long as the Node runs. It blocks while the Node is
// busy: that is how a slow reader slows its writers down.
func (r *StreamReader) pass(b inBatch) bool {
	select {
	case r.batches <- b:
		return true
	case <-r.node.streams.ctx.Done():
		return false
	}
}

// Next advances to the next record. It returns false at the end of all streams, which
// may be ends with a mark (NodeRun.Checkpointed), and after an error. A stream that its
// writer did not close is an error.
func (r *StreamReader) Next() bool {
	for r.err == nil {
		if r.records > 0 {
			r.records--
			r.key, r.value, r.payload, r.err = nextRecord(r.payload)
			return r.err == nil
		}
		if len(r.payload) > 0 {
			r.err = r.wrapError(r.from, errRecord)
			return false
		}
		if !r.nextBatch() {
			return false
		}
	}
	return false
}

// nextBatch waits for a batch. It returns false at the end and after an error.
func (r *StreamReader) nextBatch() bool {
	if r.buffer != nil {
		if r.poison {
			poison.Fill(*r.buffer)
		}
		r.buffers.Put(r.buffer)
		r.buffer, r.payload = nil, nil
	}
	batch, open := r.await()
	if r.err = batch.err; r.err != nil {
		return false
	}
	if !open {
		r.reportEnds()
		return false
	}
	r.buffer, r.payload, r.records, r.from = batch.buffer, *batch.buffer, batch.records, batch.from
	return true
}

// reportEnds reports to the Node how its writers have ended.
func (r *StreamReader) reportEnds() {
	if r.endsReported {
		return
	}
	r.endsReported = true
	var over []int
	for i, peer := range r.peers {
		if !r.checkpointed[i] {
			over = append(over, peer)
		}
	}
	r.node.liveEnded(r.channel.Edge, slices.Contains(r.checkpointed, true), over)
}

// await waits for a batch. The Node counts as waiting.
func (r *StreamReader) await() (batch inBatch, open bool) {
	select {
	case batch, open = <-r.batches:
		return batch, open
	default:
	}
	defer r.node.beginWait()()
	select {
	case batch, open = <-r.batches:
	case <-r.node.Attempt.ctx.Done():
		batch.err = context.Cause(r.node.Attempt.ctx)
	}
	return batch, open
}

// Key returns the current record's key. It is valid until Next.
func (r *StreamReader) Key() []byte { return r.key }

// Value returns the current record's value. It is valid until Next.
func (r *StreamReader) Value() []byte { return r.value }

// From returns the number of the Node that sent the current record.
func (r *StreamReader) From() int { return r.from }

// Err returns the first error.
func (r *StreamReader) Err() error { return r.err }

// Close reads and discards the rest, so that writers do not fail because their reader
// ended early. Err then is nil if all streams ended without an error. Close may be called
// twice.
func (r *StreamReader) Close() {
	for r.err == nil && r.nextBatch() {
		r.records = 0
	}
	r.records, r.payload = 0, nil
}
