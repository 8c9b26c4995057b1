package pipeline

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

// Block is a block that is being written. One goroutine uses it. Two more belong to it:
//
//	watch     from Open on: probes a silent pipeline, and keeps an idle one alive
//	readAcks  from the set-up on: counts acknowledgements
//
// They end when done is closed or the pipeline has failed, and finish waits for them.
type Block struct {
	cfg     Config
	located *LocatedBlock
	conn    net.Conn
	answers *bufio.Reader
	pending []byte // data that does not fill a packet yet
	length  int64  // bytes written, with those pending

	done       chan struct{}
	goroutines sync.WaitGroup
	stopCancel func() bool // ends the watch for the end of the caller's context

	// sending is held while a packet is sent, since watch sends heartbeats. It comes before mu.
	sending sync.Mutex
	head    []byte // buffer of sendLocked
	offset  int64  // of the next packet in the block
	seqno   int64  // of the next packet

	mu struct {
		sync.Mutex
		changed    *sync.Cond // on mu: unanswered has become less, or err is set
		raw        net.Conn   // connection under conn; nil before it is dialed
		unanswered int        // packets without an acknowledgement, or 1 for the set-up
		lastAnswer time.Time  // of the DataNodes; or when the first unanswered packet was sent
		lastSent   time.Time
		err        error           // why the pipeline failed; permanent
		culprits   []*DatanodeInfo // DataNodes that err is known to concern
	}
}

var errAborted = errors.New("pipeline: the block is aborted")

// Open sets up the pipeline of a block that the NameNode has located. When ctx ends, the
// pipeline fails with its error. Other errors are of type *Error.
func Open(ctx context.Context, cfg Config, located *LocatedBlock) (*Block, error) {
	if len(located.GetLocations()) == 0 {
		return nil, fmt.Errorf("pipeline: block %d has no DataNode", located.GetBlock().GetBlockId())
	}
	b := &Block{cfg: cfg, located: located, done: make(chan struct{})}
	b.mu.changed = sync.NewCond(&b.mu.Mutex)
	b.mu.unanswered, b.mu.lastAnswer, b.mu.lastSent = 1, time.Now(), time.Now()
	dialing, cancel := context.WithCancel(ctx)
	defer cancel()
	b.stopCancel = context.AfterFunc(ctx, func() { b.fail(ctx.Err()) })
	b.goroutines.Go(func() { b.watch(cancel) })
	if err := b.setUp(dialing); err != nil {
		b.fail(err)
		err = b.explain()
		b.finish()
		return nil, err
	}
	b.answered(1)
	b.goroutines.Go(b.readAcks)
	return b, nil
}

// Length returns the number of bytes written.
func (b *Block) Length() int64 { return b.length }

// Write adds data to the block. Full packets are sent from p itself, without a copy. A later
// call may return the error of an earlier packet.
func (b *Block) Write(p []byte) error {
	for len(p) > 0 {
		n := min(len(p), packetBytes-len(b.pending))
		packet := p[:n]
		if n < packetBytes {
			b.pending = append(b.pending, packet...)
			packet = b.pending
		}
		if len(packet) == packetBytes {
			if err := b.send(packet, false); err != nil {
				return err
			}
			b.pending = b.pending[:0]
		}
		b.length += int64(n)
		p = p[n:]
	}
	return nil
}

// Close sends what is pending and the end of the block, and waits until all DataNodes have
// acknowledged everything. After an error the block is aborted.
func (b *Block) Close() error {
	defer b.finish()
	if len(b.pending) > 0 {
		if err := b.send(b.pending, false); err != nil {
			return err
		}
	}
	if err := b.send(nil, true); err != nil {
		return err
	}
	b.mu.Lock()
	for b.mu.unanswered > 0 && b.mu.err == nil {
		b.mu.changed.Wait()
	}
	failed := b.mu.unanswered > 0
	b.mu.Unlock()
	if failed {
		return b.explain()
	}
	return nil
}

// Abort ends the pipeline. The DataNodes keep an unfinished replica until the NameNode drops
// the block.
func (b *Block) Abort() {
	b.fail(errAborted)
	b.finish()
}

// finish closes the connection and waits for the goroutines.
func (b *Block) finish() {
	close(b.done)
	b.stopCancel()
	b.fail(errAborted) // without effect after another error
	b.goroutines.Wait()
}

// send sends a packet when the window has a place for it.
func (b *Block) send(data []byte, last bool) error {
	b.mu.Lock()
	for b.mu.unanswered >= windowSize && b.mu.err == nil {
		b.mu.changed.Wait()
	}
	if b.mu.err != nil {
		b.mu.Unlock()
		return b.explain()
	}
	if b.mu.unanswered == 0 {
		b.mu.lastAnswer = time.Now()
	}
	b.mu.unanswered++
	b.mu.Unlock()
	b.sending.Lock()
	err := b.sendLocked(data, last)
	b.sending.Unlock()
	if err != nil {
		b.fail(err)
		return b.explain()
	}
	return nil
}

// sendLocked sends a packet with the next number.
func (b *Block) sendLocked(data []byte, last bool) error {
	b.head = appendHead(b.head[:0], b.offset, b.seqno, last, data)
	b.offset += int64(len(data))
	b.seqno++
	b.mu.Lock()
	b.mu.lastSent = time.Now()
	b.mu.Unlock()
	packet := net.Buffers{b.head, data}
	if len(data) == 0 {
		packet = packet[:1]
	}
	_, err := packet.WriteTo(b.conn)
	return err
}

// fail records the first error of the pipeline, which is permanent, and ends what waits for
// the connection.
func (b *Block) fail(err error, culprits ...*DatanodeInfo) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.err != nil {
		return
	}
	b.mu.err, b.mu.culprits = err, culprits
	if b.mu.raw != nil {
		b.mu.raw.Close()
	}
	b.mu.changed.Broadcast()
}

// explain returns the error of a pipeline that has failed. If the error does not say which
// DataNode it concerns, explain probes all. If all answer, it blames the first one, which this
// process is connected to.
func (b *Block) explain() error {
	b.mu.Lock()
	err, culprits := b.mu.err, b.mu.culprits
	b.mu.Unlock()
	var known *Error
	switch {
	case errors.Is(err, errAborted), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &known):
		return known
	case len(culprits) == 0:
		culprits = b.probeAll()
	}
	if len(culprits) == 0 {
		culprits = b.located.GetLocations()[:1]
	}
	return &Error{Nodes: culprits, Cause: err}
}
