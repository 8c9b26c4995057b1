package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/mailbox"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
	"google.golang.org/protobuf/proto"
)

const (
	joinTimeout = 10 * time.Second // for the first report
	sendTimeout = 30 * time.Second // for a tasknode to take orders
	// maxOrdersBytes is how many bytes of orders go in one message, as far as
	// one order is not more.
	maxOrdersBytes = 4 << 20
)

type attendStream = connect.BidiStream[wire.Report, wire.Orders]

// tasknodes implements wireconnect.TasknodesHandler.
type tasknodes struct{ cfg Config }

// Attend implements wireconnect.TasknodesHandler.
func (t *tasknodes) Attend(ctx context.Context, stream *attendStream) error {
	s := &session{
		stream: stream, deadlines: controllerOf(ctx),
		orders: mailbox.New[*wire.Order](), ended: make(chan error, 1), readDone: make(chan error, 1),
	}
	hello, err := s.receiveJoin()
	if err != nil {
		return err
	}
	a, err := t.cfg.Master.Attach(ctx, hello, s.orders.Put, func(cause error) { s.ended <- cause })
	if err != nil {
		return t.cfg.callError(err)
	}
	defer a.Detach()
	t.logAttached(hello)
	var reading sync.WaitGroup
	defer reading.Wait()
	defer s.stopReading()
	reading.Go(func() { s.readDone <- s.read(a) })
	err = s.write(ctx)
	t.cfg.Logger.Info("tasknode detached", "tasknode", hello.Machine, "error", err)
	return t.cfg.callError(err)
}

// maxSkew is by how much clocks may differ before somebody is to set them:
// times in reports and logs are of several machines.
const maxSkew = 5 * time.Second

func (t *tasknodes) logAttached(hello *wire.Report) {
	t.cfg.Logger.Info("tasknode attached", "tasknode", hello.Machine)
	clock := hello.GetJoined().GetClock()
	if ahead := time.Until(time.UnixMilli(clock)); clock != 0 && ahead.Abs() > maxSkew {
		t.cfg.Logger.Warn("clock of a tasknode differs from the jobmaster's; set both by NTP", "tasknode", hello.Machine, "ahead", ahead)
	}
}

// session is the connection of a tasknode that is attached.
type session struct {
	stream    *attendStream
	deadlines *http.ResponseController
	orders    *mailbox.Mailbox[*wire.Order]
	ended     chan error // the cause, once the master wants no more of it
	readDone  chan error // why nothing more is read, nil when the tasknode has gone in order
}

// receiveJoin is the first report.
func (s *session) receiveJoin() (*wire.Report, error) {
	err := s.deadlines.SetReadDeadline(time.Now().Add(joinTimeout))
	if err != nil {
		return nil, err
	}
	hello, err := s.stream.Receive()
	if err != nil {
		return nil, err
	}
	return hello, s.deadlines.SetReadDeadline(time.Time{})
}

// stopReading makes the reader return.
func (s *session) stopReading() {
	_ = s.deadlines.SetReadDeadline(time.Now()) // it fails for a connection that is gone, which has no reader
}

// read passes reports on until there are no more.
func (s *session) read(a *jobmaster.Attachment) error {
	for {
		r, err := s.stream.Receive()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		a.Report(r)
	}
}

// write sends orders until the attachment ends. The first message is empty: it
// says that the tasknode is taken in.
func (s *session) write(ctx context.Context) error {
	if err := s.send(nil); err != nil {
		return err
	}
	for {
		select {
		case <-s.orders.Ready():
			for _, batch := range batches(s.orders.Take(), maxOrdersBytes) {
				if err := s.send(batch); err != nil {
					return err
				}
			}
		case cause := <-s.ended:
			return cause
		case err := <-s.readDone:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (s *session) send(orders []*wire.Order) error {
	if err := s.deadlines.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	if err := s.stream.Send(&wire.Orders{Orders: orders}); err != nil {
		return err
	}
	return s.deadlines.SetWriteDeadline(time.Time{})
}

// batches cuts orders into messages of about so many bytes at most; an order
// that is larger is one of its own.
func batches(orders []*wire.Order, limit int) (all [][]*wire.Order) {
	begin, bytes := 0, 0
	for i, o := range orders {
		n := proto.Size(o)
		if i > begin && bytes+n > limit {
			all = append(all, orders[begin:i])
			begin, bytes = i, 0
		}
		bytes += n
	}
	if begin < len(orders) {
		all = append(all, orders[begin:])
	}
	return all
}
