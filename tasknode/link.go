package tasknode

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/internal/wire"
)

// ErrRefused marks an attachment that the jobmaster refuses for good: the
// cluster is another one, say, or the name is taken.
var ErrRefused = errors.New("tasknode: refused by the jobmaster")

// Link finds the master that leads.
type Link interface {
	// Connect attaches the node to the master that leads. hello is its Joined
	// report. An error that wraps ErrRefused is for good; after any other the
	// node tries again.
	Connect(ctx context.Context, hello *wire.Report) (Session, error)
}

// Session is an attachment to one master.
type Session interface {
	// Send sends a report and does not wait for the jobmaster. What is sent
	// when the session is over is lost.
	Send(*wire.Report)
	// Receive waits for orders and returns them in order, or an error when the
	// session is over or ctx ends.
	Receive(ctx context.Context) ([]*wire.Order, error)
	// Close ends the session.
	Close()
}

// How long the node waits before it looks for a master again.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// stayConnected keeps the node attached to whichever master leads, until ctx ends or
// the node is refused. The loop hears of orders and of changes.
func (n *Daemon) stayConnected(ctx context.Context) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		session, err := n.cfg.Link.Connect(ctx, n.joinReport())
		if err == nil {
			wait = firstRetry
			err = n.serveSession(ctx, session)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrRefused):
			return err
		}
		n.cfg.Logger.Warn("not attached to a jobmaster", "error", err)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait):
		}
	}
}

// serveSession passes the orders of one session on to the loop.
func (n *Daemon) serveSession(ctx context.Context, session Session) error {
	defer session.Close()
	n.inbox.Put(connected{session})
	defer n.inbox.Put(disconnected{session})
	for {
		orders, err := session.Receive(ctx)
		if err != nil {
			return err
		}
		n.inbox.Put(ordered{orders})
	}
}

// joinReport is the report that begins a session. The loop answers it.
func (n *Daemon) joinReport() *wire.Report {
	answer := make(chan *wire.Report, 1)
	n.inbox.Put(joinRequest{answer})
	return <-answer
}
