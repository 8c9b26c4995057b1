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

// Channels opens streams between Nodes of different processes, or of one. Only the
// writer's Close ends a stream without an error; the end of ctx breaks it.
type Channels interface {
	// Send opens the writer's end. address is the server of the reader's machine. wait
	// is how long Send waits for the reader's process; the error may come as late as in
	// Write or Close.
	Send(ctx context.Context, id transfer.ChannelID, address string, wait time.Duration) (io.WriteCloser, error)
	// Receive opens the reader's end and waits for the writer's process.
	Receive(ctx context.Context, id transfer.ChannelID, address string, wait time.Duration) (io.ReadCloser, error)
}

// memoryChannels join Nodes of one process. The address of a server has no meaning here.
type memoryChannels struct{ *transfer.Rendezvous }

// Send implements Channels.
func (m memoryChannels) Send(ctx context.Context, id transfer.ChannelID, _ string, wait time.Duration) (io.WriteCloser, error) {
	end, err := m.Rendezvous.Send(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	return end, nil
}

// Receive implements Channels.
func (m memoryChannels) Receive(ctx context.Context, id transfer.ChannelID, _ string, wait time.Duration) (io.ReadCloser, error) {
	end, err := m.Rendezvous.Receive(ctx, id, wait)
	if err != nil {
		return nil, err
	}
	return end, nil
}

// opening is one end of a stream that is being opened. All streams are opened at the start
// of the Node. A reader thus does not time out while the writer's Node has other inputs to
// read first.
type opening[T io.Closer] struct {
	done chan struct{} // closed once end or err is set
	end  T             // valid if err is nil
	err  error
}

// open begins to open an end in a goroutine of the group.
func open[T io.Closer](goroutines *sync.WaitGroup, connect func() (T, error)) *opening[T] {
	o := &opening[T]{done: make(chan struct{})}
	goroutines.Go(func() {
		defer close(o.done)
		o.end, o.err = connect()
	})
	return o
}

// close closes the end if it has been opened.
func (o *opening[T]) close() {
	if <-o.done; o.err == nil {
		_ = o.end.Close() // the stream is over, so its error does not matter
	}
}

// streamError is the error of a stream that its other end, or the network, has broken.
type streamError struct{ error }

func (e *streamError) Unwrap() error { return e.error }

// streamEnd identifies one end of a stream: the edge, and the Node at the other end.
type streamEnd struct{ edge, peer int }

// streams are the ends of streams of one Node. Each passes through these steps:
//
//	openStreams ─► opening ─► SendStream or ReceiveStreams ─► closed by its user
//	                                                      └─► or by finishStreams, closeStreams
//
// The Node's goroutine uses all fields. The goroutines of openings touch only their own.
type streams struct {
	ctx     context.Context                        // context of the Node
	cancel  context.CancelCauseFunc                // breaks all streams of the Node
	client  *transfer.ChannelClient                // nil if all Nodes run in one process
	out     map[streamEnd]*opening[io.WriteCloser] // streams to readers
	in      map[streamEnd]*opening[io.ReadCloser]  // streams from writers that had not finished before
	opening sync.WaitGroup                         // counts the goroutines that open ends
	writers map[streamEnd]*StreamWriter            // writers that SendStream has returned
	readers map[int]*StreamReader                  // readers by edge
}

// openStreams starts to open all streams of the Node. Both ends wait for each other. Opened
// one by one, the streams of Nodes that read in different orders would wait until they time
// out.
func (n *NodeRun) openStreams() {
	s := &n.streams
	s.ctx, s.cancel = context.WithCancelCause(n.Attempt.ctx)
	s.out, s.in = make(map[streamEnd]*opening[io.WriteCloser]), make(map[streamEnd]*opening[io.ReadCloser])
	s.writers, s.readers = make(map[streamEnd]*StreamWriter), make(map[int]*StreamReader)
	wait := n.Attempt.Conf.Duration(conf.ChannelConnectTimeout)
	for _, c := range channelsOf(n.outputs, dag.ChannelTCP) {
		for _, peer := range c.Peers {
			channels, address := n.channelsTo(c.To, peer)
			s.out[streamEnd{c.Edge, peer}] = open(&s.opening, func() (io.WriteCloser, error) {
				return channels.Send(s.ctx, n.group.streamID(c, n.number, peer), address, wait)
			})
		}
	}
	for _, c := range channelsOf(n.inputs, dag.ChannelTCP) {
		for _, peer := range n.unfinishedPeers(c) {
			channels, address := n.channelsFrom(c.From, peer)
			s.in[streamEnd{c.Edge, peer}] = open(&s.opening, func() (io.ReadCloser, error) {
				return channels.Receive(s.ctx, n.group.streamID(c, peer, n.number), address, wait)
			})
		}
	}
}

// streamID identifies the stream between two Nodes.
func (g *groupRun) streamID(c Channel, from, to int) transfer.ChannelID {
	b := g.Attempt.Start.GetBundle()
	return transfer.ChannelID{
		Job: g.Attempt.Start.JobId, BundleClass: int(b.GetClass()), Bundle: int(b.GetBundle()), Incarnation: int(b.GetIncarnation()),
		Edge: c.Edge, From: from, To: to,
	}
}

// channelsTo returns where a stream to a Node is opened: at the server of its machine.
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

// channelsFrom returns how a stream from a Node arrives: by the server of this machine.
func (n *NodeRun) channelsFrom(stage string, number int) (Channels, string) {
	g := n.group
	if g.layout.GroupOf(g.graph.StageIndex(stage), number) == groupOf(g.Attempt.Start) {
		return memoryChannels{&g.localStreams}, ""
	}
	return n.channelsAt(g.Attempt.Start.ShuffleAddress), g.Attempt.Start.ShuffleAddress
}

// channelsAt connects to a server, or stays in this process if there is none.
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

// finishStreams ends what the Node sends and receives, with a mark if it was
// checkpointed. Readers that it never wrote to get an empty stream. A stream that it
// wrote to and did not close is an error, since it may be incomplete. What it did not
// read is discarded.
func (n *NodeRun) finishStreams(checkpointed bool) error {
	var errs []error
	for _, c := range channelsOf(n.outputs, dag.ChannelTCP) {
		for _, peer := range c.Peers {
			errs = append(errs, n.finishSend(c, peer, checkpointed))
		}
	}
	for _, c := range channelsOf(n.inputs, dag.ChannelTCP) {
		errs = append(errs, n.finishReceive(c))
	}
	return errors.Join(errs...)
}

// finishSend ends the stream to one reader.
func (n *NodeRun) finishSend(c Channel, peer int, checkpointed bool) error {
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
	return w.End(checkpointed)
}

// finishReceive reads the streams of an edge to their ends, so that their writers do not
// fail.
func (n *NodeRun) finishReceive(c Channel) error {
	r, err := n.ReceiveStreams(c)
	if err != nil {
		return err
	}
	r.Close()
	return r.Err()
}

// closeStreams breaks the streams that are open, and waits for their goroutines.
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
		o.close()
	}
	for _, o := range s.in {
		o.close()
	}
	if s.client != nil {
		s.client.Close()
	}
}
