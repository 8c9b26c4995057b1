package attend

import (
	"context"
	"sync"
	"time"

	"connectrpc.com/connect"
	"github.com/hammr/hammr/internal/mailbox"
	"github.com/hammr/hammr/internal/rpc"
	"github.com/hammr/hammr/internal/wire"
)

// sendTimeout is how long a master may take no reports.
const sendTimeout = 30 * time.Second

// session implements tasknode.Session.
type session struct {
	link    *Link
	master  *rpc.Master
	stream  *connect.BidiStreamForClientSimple[wire.Report, wire.Orders] // nil when it could not be opened
	reports *mailbox.Mailbox[*wire.Report]
	end     context.CancelFunc // ends the stream
	closed  chan struct{}      // closed when nothing more is to be sent
	once    sync.Once          // for Close
	writing sync.WaitGroup
}

func newSession(l *Link, m *rpc.Master, end context.CancelFunc) *session {
	return &session{
		link: l, master: m, reports: mailbox.New[*wire.Report](),
		end: end, closed: make(chan struct{}),
	}
}

// begin says hello and waits until the master takes the tasknode in.
func (s *session) begin(ctx context.Context, hello *wire.Report) (err error) {
	if s.stream, err = s.master.Attend(ctx); err != nil {
		return err
	}
	_ = s.stream.Send(hello) // what went wrong is told by Receive
	_, err = s.stream.Receive()
	return err
}

// Send implements tasknode.Session.
func (s *session) Send(r *wire.Report) { s.reports.Put(r) }

// write sends reports until the session ends. A master that takes none ends it.
func (s *session) write() {
	for {
		select {
		case <-s.closed:
			return
		case <-s.reports.Ready():
		}
		for _, r := range s.reports.Take() {
			limit := time.AfterFunc(sendTimeout, s.end)
			err := s.stream.Send(r)
			limit.Stop()
			if err != nil {
				return // Receive tells what went wrong
			}
		}
	}
}

// Receive implements tasknode.Session.
func (s *session) Receive(ctx context.Context) ([]*wire.Order, error) {
	stop := context.AfterFunc(ctx, s.end)
	defer stop()
	m, err := s.stream.Receive()
	switch {
	case err == nil:
		return m.Orders, nil
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	}
	return nil, s.link.masters.Explain(s.master, err)
}

// Close implements tasknode.Session.
func (s *session) Close() {
	s.once.Do(func() {
		close(s.closed)
		s.hangUp()
		s.writing.Wait()
	})
}

// hangUp gives the stream back.
func (s *session) hangUp() {
	s.end()
	if s.stream != nil {
		_ = s.stream.CloseRequest() // of a stream that has ended
		_ = s.stream.CloseResponse()
	}
}
