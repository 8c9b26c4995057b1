package masterlink

import (
	"context"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/rpc/wire"
)

const (
	// sendTimeout is how long a master may take to receive a report.
	sendTimeout = 30 * time.Second

	// maxReportsBytes bounds a message with several reports.
	maxReportsBytes = 1 << 20
)

// session implements tasknode.Session.
type session struct {
	link    *Link
	master  *rpc.Master
	stream  *connect.BidiStreamForClientSimple[wire.Report, wire.Orders]
	reports *syncutil.Mailbox[*wire.Report]
	cancel  context.CancelFunc // cancels the stream's context
	closed  chan struct{}      // closed when no more reports are to be sent
	once    sync.Once          // Close has an effect only once
	writers sync.WaitGroup
}

// begin sends the Joined report, and waits until the master accepts the tasknode.
func (s *session) begin(hello *wire.Report) error {
	limit := time.AfterFunc(helloTimeout, s.cancelStream)
	defer limit.Stop()
	_ = s.stream.Send(hello) // Receive returns the error
	_, err := s.stream.Receive()
	return err
}

// cancelStream ends the stream, so that Send and Receive return. Cancelling the context is
// not enough, because HTTP does not notice it while it waits for the next report.
func (s *session) cancelStream() {
	s.cancel()
	_ = s.stream.CloseRequest() // the error of an ended stream
}

// Send implements tasknode.Session.
func (s *session) Send(r *wire.Report) { s.reports.Put(r) }

// write sends reports until the session ends. If a master does not receive a report in time,
// write ends the session.
func (s *session) write() {
	for {
		select {
		case <-s.closed:
			return
		case <-s.reports.Ready():
		}
		for _, r := range wire.JoinReports(s.reports.Take(), maxReportsBytes) {
			limit := time.AfterFunc(sendTimeout, s.cancelStream)
			err := s.stream.Send(r)
			limit.Stop()
			if err != nil {
				return // Receive returns the error
			}
		}
	}
}

// Receive implements tasknode.Session.
func (s *session) Receive(ctx context.Context) ([]*wire.Order, error) {
	stop := context.AfterFunc(ctx, s.cancelStream)
	defer stop()
	m, err := s.stream.Receive()
	switch {
	case err == nil:
		s.learnMasters(m.Orders)
		return m.Orders, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, s.link.masters.NoteStreamError(s.master, err)
}

// learnMasters notes the masters that the leader names: one of them is found even if all masters
// that the tasknode was started with are replaced.
func (s *session) learnMasters(orders []*wire.Order) {
	for _, o := range orders {
		for _, address := range o.GetDirectories().GetMasters() {
			s.link.masters.Learn(address)
		}
	}
}

// Close implements tasknode.Session.
func (s *session) Close() {
	s.once.Do(func() {
		close(s.closed)
		s.closeStream()
		s.writers.Wait()
	})
}

// closeStream releases the stream.
func (s *session) closeStream() {
	s.cancelStream()
	_ = s.stream.CloseResponse() // the error of an ended stream
}
