package embedded

import (
	"context"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/jobmaster"
	"github.com/hammr/hammr/tasknode"
)

// Packages jobmaster and tasknode do not contain the link between master and tasknode, nor
// the log. This file provides both, by channels.

// link connects the tasknode and the jobmaster of one process.
type link struct{ master *jobmaster.Master }

// session is the attachment of the tasknode.
type session struct {
	*jobmaster.Attachment
	orders *syncutil.Mailbox[*wire.Order]
	ended  chan error // receives the cause when the master ends the attachment
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

// memoryLog is the log of a single master. This master always leads, so every proposal is
// committed at once.
type memoryLog struct{ events chan jobmaster.LogEvent }

// newMemoryLog returns a log whose channel has space for Leading and for one batch.
func newMemoryLog() *memoryLog {
	l := &memoryLog{make(chan jobmaster.LogEvent, 2)}
	l.events <- jobmaster.Leading{}
	return l
}

func (l *memoryLog) Propose(batch []cluster.Entry)     { l.events <- jobmaster.Committed{Batch: batch} }
func (l *memoryLog) Events() <-chan jobmaster.LogEvent { return l.events }
