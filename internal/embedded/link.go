package embedded

import (
	"context"

	"github.com/hammr/hammr/internal/syncutil"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/tasknode"
)

// link connects the tasknode and the jobmaster of one process.
type link struct{ master *jobmaster.Master }

// session is the attachment of the tasknode.
type session struct {
	*jobmaster.Attachment
	orders *syncutil.Mailbox[*wire.Order]
	ended  chan error // the cause, once the master ends the attachment
}

// Connect implements tasknode.Link.
func (l *link) Connect(ctx context.Context, hello *wire.Report) (tasknode.Session, error) {
	s := &session{orders: syncutil.NewMailbox[*wire.Order](), ended: make(chan error, 1)}
	a, err := l.master.Attach(ctx, hello, s.orders.Put, func(cause error) { s.ended <- cause })
	s.Attachment = a
	return s, err
}

// Send implements tasknode.Session.
func (s *session) Send(r *wire.Report) { s.Report(r) }

// Receive implements tasknode.Session.
func (s *session) Receive(ctx context.Context) ([]*wire.Order, error) {
	select {
	case <-s.orders.Ready():
		return s.orders.Take(), nil
	case cause := <-s.ended:
		return nil, cause
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Close implements tasknode.Session.
func (s *session) Close() { s.Detach() }
