package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
)

// heartbeatInterval is less than the 60 s after which a DataNode gives up an idle writer.
const heartbeatInterval = 30 * time.Second

// watch fails a pipeline that is silent while it owes an answer: if a probe finds a dead
// DataNode, or after Timeout. It ends the dialing too. It also sends heartbeats.
func (b *Block) watch(cancelDial func()) {
	tick := time.NewTicker(max(b.cfg.ProbeTimeout/4, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-b.done:
			return
		case <-tick.C:
		}
		if b.isIdle() {
			b.heartbeat()
			continue
		}
		silence := b.silence()
		if silence < b.cfg.ProbeTimeout {
			continue
		}
		err := fmt.Errorf("no acknowledgement for %v", silence.Round(time.Millisecond))
		dead := b.probeAll()
		if b.silence() < silence {
			continue // an answer has come meanwhile
		}
		if len(dead) > 0 || silence >= b.cfg.Timeout {
			b.fail(err, dead...)
			cancelDial()
			return
		}
	}
}

// silence returns for how long the pipeline has owed an answer.
func (b *Block) silence() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.unanswered == 0 || b.mu.err != nil {
		return 0
	}
	return time.Since(b.mu.lastAnswer)
}

// isIdle reports whether nothing was sent for heartbeatInterval, and everything is
// acknowledged.
func (b *Block) isIdle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.unanswered == 0 && b.mu.err == nil && time.Since(b.mu.lastSent) >= heartbeatInterval
}

// heartbeat sends a packet without data. It needs no place in the window.
func (b *Block) heartbeat() {
	b.sending.Lock()
	defer b.sending.Unlock()
	b.mu.Lock()
	b.mu.lastSent = time.Now()
	b.mu.Unlock()
	if _, err := b.conn.Write(appendHead(nil, 0, heartbeatSeqno, false, nil)); err != nil {
		b.fail(err)
	}
}

// probeAll probes all DataNodes of the pipeline at once and returns those that are dead.
func (b *Block) probeAll() []*DatanodeInfo {
	nodes := b.located.GetLocations()
	errs := make([]error, len(nodes))
	var probes sync.WaitGroup
	for i, n := range nodes {
		probes.Go(func() { errs[i] = b.cfg.probe(n, b.located.GetBlock().GetPoolId()) })
	}
	probes.Wait()
	var dead []*DatanodeInfo
	for i, n := range nodes {
		if errs[i] != nil {
			dead = append(dead, n)
		}
	}
	return dead
}

// probe returns an error if a DataNode does not answer within ProbeTimeout. It asks for a
// block that does not exist. A DataNode refuses that from memory, so its disk does not
// matter. The kernel accepts connections for a stopped process, so only an answer counts.
// A DataNode that demands authentication closes the connection, which is an answer too.
func (c *Config) probe(n *DatanodeInfo, pool string) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.ProbeTimeout)
	defer cancel()
	conn, err := c.Dial(ctx, "tcp", c.address(n))
	if err != nil {
		return err
	}
	defer conn.Close()
	deadline, _ := ctx.Deadline()
	if err := conn.SetDeadline(deadline); err != nil {
		return err
	}
	none := &ExtendedBlock{PoolId: &pool, BlockId: proto.Uint64(0), GenerationStamp: proto.Uint64(0)}
	request, err := encodeOp(opReadBlock, &OpReadBlock{
		Header: c.header(none, nil), Offset: proto.Uint64(0), Len: proto.Uint64(1),
	})
	if err != nil {
		return err
	}
	if _, err := conn.Write(request); err != nil {
		return err
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}
