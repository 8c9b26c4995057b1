package task

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/hammr/hammr/dag"
	"github.com/hammr/hammr/internal/conf"
	"github.com/hammr/hammr/shuffle/transfer"
)

// Channels opens streams between Nodes that are in two processes, or might be.
// What it opens ends well only by the writer's Close; the end of ctx breaks it.
type Channels interface {
	// Send opens the writer's end. address is where the reader's machine serves;
	// wait is how long its process is waited for, which may show as late as in
	// Write or Close.
	Send(ctx context.Context, id transfer.ChannelID, address string, wait time.Duration) (io.WriteCloser, error)
	// Receive opens the reader's end and waits for the writer's process.
	Receive(ctx context.Context, id transfer.ChannelID, address string, wait time.Duration) (io.ReadCloser, error)
}

// memoryChannels join Nodes of one process.
type memoryChannels struct{ *transfer.Rendezvous }

func (m memoryChannels) Send(ctx context.Context, id transfer.ChannelID, _ string, wait time.Duration) (io.WriteCloser, error) {
	end, err := m.Rendezvous.Send(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	// An attempt that ends breaks its streams, as a process does by its death.
	stop := context.AfterFunc(ctx, func() { end.Abort(context.Cause(ctx)) })
	return &memorySend{end, stop}, nil
}

func (m memoryChannels) Receive(ctx context.Context, id transfer.ChannelID, _ string, wait time.Duration) (io.ReadCloser, error) {
	end, err := m.Rendezvous.Receive(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = end.Close() }) // which cannot fail
	return &memoryReceive{end, stop}, nil
}

type memorySend struct {
	*transfer.SendEnd
	stop func() bool
}

func (s *memorySend) Close() error {
	s.stop()
	return s.SendEnd.Close()
}

type memoryReceive struct {
	*transfer.ReceiveEnd
	stop func() bool
}

func (r *memoryReceive) Close() error {
	r.stop()
	return r.ReceiveEnd.Close()
}

// sendOpening is the writer's end of a stream that is being opened, from the
// start of the Node on: its reader does not wait longer for a Node that has
// other things to read first.
type sendOpening struct {
	done chan struct{}
	end  io.WriteCloser
	err  error
}

type receiveOpening struct {
	done chan struct{}
	end  io.ReadCloser
	err  error
}

// streamError is the error of a stream that its other end, or the network, has
// broken.
type streamError struct{ error }

func (e *streamError) Unwrap() error { return e.error }

// streamEnd names one end of a stream: the edge, and the Node at the other end.
type streamEnd struct{ edge, peer int }

// streams are the ends of streams of one Node.
type streams struct {
	ctx     context.Context // the Node's
	cancel  context.CancelCauseFunc
	client  *transfer.ChannelClient // nil where all run in one process
	out     map[streamEnd]*sendOpening
	in      map[streamEnd]*receiveOpening
	opening sync.WaitGroup
	writers map[streamEnd]*StreamWriter // that were asked for
	readers map[int]*StreamReader       // by edge
}

// openStreams begins to open all streams of the Node.
func (n *NodeRun) openStreams() {
	s := &n.streams
	s.ctx, s.cancel = context.WithCancelCause(n.Attempt.ctx)
	s.out, s.in = make(map[streamEnd]*sendOpening), make(map[streamEnd]*receiveOpening)
	s.writers, s.readers = make(map[streamEnd]*StreamWriter), make(map[int]*StreamReader)
	wait := n.Attempt.Conf.Duration(conf.ChannelConnectTimeout)
	for _, c := range channelsOf(n.outputs, dag.ChannelTCP) {
		for _, peer := range c.Peers {
			o := &sendOpening{done: make(chan struct{})}
			s.out[streamEnd{c.Edge, peer}] = o
			channels, address := n.channelsTo(c.To, peer)
			s.opening.Go(func() {
				defer close(o.done)
				o.end, o.err = channels.Send(s.ctx, n.group.streamID(c, n.number, peer), address, wait)
			})
		}
	}
	for _, c := range channelsOf(n.inputs, dag.ChannelTCP) {
		for _, peer := range n.unfinishedPeers(c) {
			o := &receiveOpening{done: make(chan struct{})}
			s.in[streamEnd{c.Edge, peer}] = o
			channels, address := n.channelsFrom(c.From, peer)
			s.opening.Go(func() {
				defer close(o.done)
				o.end, o.err = channels.Receive(s.ctx, n.group.streamID(c, peer, n.number), address, wait)
			})
		}
	}
}

// streamID names the stream between two Nodes.
func (g *groupRun) streamID(c Channel, from, to int) transfer.ChannelID {
	b := g.Attempt.Start.GetBundle()
	return transfer.ChannelID{
		Job: g.Attempt.Start.JobId, BundleClass: int(b.GetClass()), Bundle: int(b.GetBundle()), Incarnation: int(b.GetIncarnation()),
		Edge: c.Edge, From: from, To: to,
	}
}

// channelsTo is how a stream to a Node goes: to the server of its machine.
func (n *NodeRun) channelsTo(stage string, number int) (Channels, string) {
	g := n.group
	peer := g.layout.GroupOf(g.graph.StageIndex(stage), number)
	if peer == groupOf(g.Attempt.Start) {
		return memoryChannels{&g.localStreams}, ""
	}
	address := ""
	for _, member := range g.Attempt.Start.GetBundle().GetGroups() {
		if int(member.Class) == peer.Class && int(member.Group) == peer.Index {
			address = member.Address
		}
	}
	return n.channelsAt(address), address
}

// channelsFrom is how a stream from a Node comes: by the server of this machine.
func (n *NodeRun) channelsFrom(stage string, number int) (Channels, string) {
	g := n.group
	if g.layout.GroupOf(g.graph.StageIndex(stage), number) == groupOf(g.Attempt.Start) {
		return memoryChannels{&g.localStreams}, ""
	}
	return n.channelsAt(g.Attempt.Start.ShuffleAddress), g.Attempt.Start.ShuffleAddress
}

// channelsAt speak to a server, or meet in this process where there is none.
func (n *NodeRun) channelsAt(address string) Channels {
	server := n.group.server
	switch {
	case server.Channels != nil:
		return server.Channels
	case address == "":
		return memoryChannels{&server.rendezvous}
	}
	if n.streams.client == nil {
		n.streams.client = transfer.NewChannelClient(transfer.ChannelConfig{
			Token: n.Attempt.Start.ShuffleToken, ConnectTimeout: n.Attempt.Conf.Duration(conf.ChannelConnectTimeout),
		})
	}
	return n.streams.client
}

// finishStreams ends what the Node sends and receives, for good unless it was paused.
// Readers that it never wrote to get nothing from it; one that it wrote to and did not
// close might miss something. What it did not read is thrown away.
func (n *NodeRun) finishStreams(paused bool) error {
	var faults []error
	for _, c := range channelsOf(n.outputs, dag.ChannelTCP) {
		for _, peer := range c.Peers {
			faults = append(faults, n.finishSend(c, peer, paused))
		}
	}
	for _, c := range channelsOf(n.inputs, dag.ChannelTCP) {
		faults = append(faults, n.finishReceive(c))
	}
	return errors.Join(faults...)
}

func (n *NodeRun) finishSend(c Channel, peer int, paused bool) error {
	w := n.streams.writers[streamEnd{c.Edge, peer}]
	if w != nil && !w.closed {
		return w.wrapError(errors.New("it was not closed"))
	}
	if w == nil {
		var err error
		if w, err = n.SendStream(c, peer); err != nil {
			return err
		}
	}
	return w.End(paused)
}

func (n *NodeRun) finishReceive(c Channel) error {
	r, err := n.ReceiveStreams(c)
	if err != nil {
		return err
	}
	r.Close()
	return r.Err()
}

// closeStreams breaks what is still open and waits until nothing of it is left.
func (n *NodeRun) closeStreams() {
	s := &n.streams
	if s.ctx == nil {
		return
	}
	s.cancel(context.Canceled)
	s.opening.Wait()
	for _, r := range s.readers {
		r.workers.Wait()
	}
	for _, o := range s.out {
		if o.end != nil {
			_ = o.end.Close() // of a stream that is over
		}
	}
	for _, o := range s.in {
		if o.end != nil {
			_ = o.end.Close() // likewise
		}
	}
	if s.client != nil {
		s.client.Close()
	}
}
