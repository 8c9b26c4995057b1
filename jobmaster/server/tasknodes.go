package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
)

const (
	joinTimeout = 10 * time.Second // how long a tasknode may take to send its first report
	sendTimeout = 30 * time.Second // how long a tasknode may take to receive orders
	// maxOrdersBytes bounds a message with several orders. Every session may encode one at the
	// same time.
	maxOrdersBytes = 128 << 10
)

type attendStream = connect.BidiStream[wire.Report, wire.Orders]

// tasknodes implements wireconnect.TasknodesHandler.
type tasknodes struct{ cfg Config }

// Attend implements wireconnect.TasknodesHandler: it attaches a tasknode until the
// stream or the attachment ends.
//
//	tasknode                               this server
//	Report{Joined}        ──────────►      Master.Attach
//	                      ◄──────────      Orders{}: attached
//	Report, Report, …     ──────────►      read: Attachment.Report
//	                      ◄──────────      write: Orders, from the mailbox
//	the stream ends, or the master ends the attachment ──► both directions end
//
// A refused tasknode gets the error as the result of the call.
func (t *tasknodes) Attend(ctx context.Context, stream *attendStream) error {
	s := &session{
		stream: stream, deadlines: controllerOf(ctx),
		orders: syncutil.NewMailbox[*wire.Order](), ended: make(chan error, 1), readDone: make(chan error, 1),
	}
	hello, err := s.receiveJoin()
	if err != nil {
		return err
	}
	if err := checkAddresses(hello.GetJoined()); err != nil {
		return connect.NewError(connect.CodeInvalidArgument, err)
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

// checkAddresses refuses a tasknode whose addresses are something else: masters ask there for its health,
// for logs and for profiles.
func checkAddresses(joined *wire.Report_Joined) error {
	for what, address := range map[string]string{"page": joined.GetHttp(), "shuffle server": joined.GetAddress()} {
		if address != "" && !rpc.IsAddress(address) {
			return fmt.Errorf("address %q of the tasknode's %s is not host:port; see its --http and --advertise", address, what)
		}
	}
	return nil
}

// maxSkew is the difference between clocks above which a warning is logged, because reports
// and logs combine times of several machines.
const maxSkew = 5 * time.Second

// logAttached logs the tasknode, and whether its clock differs much from the master's clock.
// The time that its report was on its way makes its clock look slow, by less than maxSkew.
func (t *tasknodes) logAttached(hello *wire.Report) {
	t.cfg.Logger.Info("tasknode attached", "tasknode", hello.Machine)
	clock := hello.GetJoined().GetClock()
	if ahead := time.Until(time.UnixMilli(clock)); clock != 0 && ahead.Abs() > maxSkew {
		t.cfg.Logger.Warn("clock of a tasknode differs from the jobmaster's; synchronize both by NTP", "tasknode", hello.Machine, "ahead", ahead)
	}
}

// session is the connection of an attached tasknode.
type session struct {
	stream    *attendStream                  // method read receives from it, method write sends to it
	deadlines *http.ResponseController       // deadlines of the connection: HTTP itself sets none for a stream
	orders    *syncutil.Mailbox[*wire.Order] // the master's loop puts orders into it without waiting
	ended     chan error                     // receives the cause when the master ends the attachment
	readDone  chan error                     // receives why reading ended, nil if the tasknode closed the stream
}

// receiveJoin receives the first report.
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

// stopReading makes read return.
func (s *session) stopReading() {
	_ = s.deadlines.SetReadDeadline(time.Now()) // fails only if the connection is closed, and then read has returned
}

// read passes reports to the master until the stream ends.
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

// write sends orders until the attachment ends. The first message is empty and means that
// the tasknode is attached.
func (s *session) write(ctx context.Context) error {
	if err := s.send(nil); err != nil {
		return err
	}
	for {
		select {
		case <-s.orders.Ready():
			for _, batch := range wire.Batches(s.orders.Take(), maxOrdersBytes) {
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

// send sends one message. If a tasknode does not receive it within sendTimeout, its session
// ends, because its orders would accumulate here.
func (s *session) send(orders []*wire.Order) error {
	if err := s.deadlines.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	if err := s.stream.Send(&wire.Orders{Orders: orders}); err != nil {
		return err
	}
	return s.deadlines.SetWriteDeadline(time.Time{})
}
