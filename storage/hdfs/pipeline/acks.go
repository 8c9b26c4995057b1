package pipeline

import (
	"fmt"
	"time"
)

// heartbeatSeqno is the number of packets that only keep the connection alive.
const heartbeatSeqno = -1

// readAcks reads acknowledgements until the pipeline ends or fails. They come in the order of
// the packets.
func (b *Block) readAcks() {
	ack := &PipelineAck{}
	for next := int64(0); ; {
		if err := readMessage(b.answers, ack); err != nil {
			b.fail(err)
			return
		}
		for i, status := range ack.GetReply() {
			if status != statusSuccess {
				b.failAt(i, fmt.Errorf("packet %d: status %d", ack.GetSeqno(), status))
				return
			}
		}
		if ack.GetSeqno() == heartbeatSeqno {
			continue
		}
		if ack.GetSeqno() != next {
			b.fail(fmt.Errorf("acknowledgement of packet %d, expected %d", ack.GetSeqno(), next))
			return
		}
		next++
		b.answered(1)
	}
}

// failAt records an error of the DataNode at index i of the pipeline.
func (b *Block) failAt(i int, err error) {
	if nodes := b.located.GetLocations(); i < len(nodes) {
		b.fail(err, nodes[i])
		return
	}
	b.fail(err)
}

// answered counts n acknowledgements.
func (b *Block) answered(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.unanswered -= n
	b.mu.lastAnswer = time.Now()
	b.mu.changed.Broadcast()
}
