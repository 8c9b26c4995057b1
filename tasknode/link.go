package tasknode

import (
	"context"
	"errors"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// ErrRefused marks a connection that the jobmaster refuses permanently: the tasknode belongs
// to another cluster, or has another token.
var ErrRefused = errors.New("tasknode: refused by the jobmaster")

// Link finds the master that leads.
type Link interface {
	// Connect opens a session with the leading master. hello is the tasknode's Joined
	// report. An error that wraps ErrRefused is final. After any other error the tasknode
	// tries again.
	Connect(ctx context.Context, hello *wire.Report) (Session, error)
}

// Session is a connection to one master.
type Session interface {
	// Send sends a report without waiting for the jobmaster. A report that is sent
	// after the end of the session is lost.
	Send(*wire.Report)
	// Receive waits for orders and returns them in the order in which they were sent. The
	// error is the reason why the session has ended, or the error of ctx.
	Receive(ctx context.Context) ([]*wire.Order, error)
	// Close ends the session.
	Close()
}

// Delays between two attempts to find a master.
const (
	firstRetry = 50 * time.Millisecond
	lastRetry  = 2 * time.Second
)

// stayConnected keeps a session with the leading master until ctx ends or the tasknode is
// refused.
//
//	             Connect succeeds
//	seeking ─────────────────────────► in session: final reports are sent again, orders ──► loop
//	 ▲   │ ▲                                │
//	 │   └─┘ no master leads:               │ Receive fails: the connection is lost,
//	 │       wait 50 ms to 2 s              │ or the master has ended the attachment
//	 └──────────────────────────────────────┘
//
// After ErrRefused the tasknode ends, since no later try could succeed. Attempts
// continue without a session: a master may be replaced within seconds.
//
// The first session waits for the local directories, because the tasknode joins with what
// they retain. It does not wait for a directory that hangs.
func (d *Daemon) stayConnected(ctx context.Context, recovered <-chan struct{}) error {
	select {
	case <-recovered:
	case <-time.After(recoverTimeout):
		d.cfg.Logger.Warn("a local directory is not read yet, joining without its files", "after", recoverTimeout)
	case <-ctx.Done():
		return nil
	}
	var restores int32 // of the newest state of a master so far
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		session, err := d.cfg.Link.Connect(ctx, d.joinReport())
		if err == nil {
			wait = firstRetry
			err = d.serveSession(ctx, session, &restores)
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, ErrRefused):
			return err
		}
		d.cfg.Logger.Warn("no session with a jobmaster", "error", err)
		if syncutil.Sleep(ctx, wait) != nil {
			return nil
		}
	}
}

// serveSession passes the orders of one session to the loop. restores is that of the newest state
// of a master so far.
func (d *Daemon) serveSession(ctx context.Context, session Session, restores *int32) error {
	defer session.Close()
	d.inbox.Put(func() { d.connected(session) })
	defer d.inbox.Put(func() { d.session = nil })
	for {
		orders, err := session.Receive(ctx)
		if err == nil {
			err = checkRestores(orders, restores)
		}
		if err != nil {
			return err
		}
		d.inbox.Put(func() { d.orders(ctx, orders) })
	}
}

// joinReport returns the report that begins a session.
//
// The loop makes the report, because the report lists the loop's tables. It is made again
// for each try, because the tables change.
func (d *Daemon) joinReport() *wire.Report {
	answer := make(chan *wire.Report, 1)
	d.inbox.Put(func() { answer <- d.describeMachine() })
	return <-answer
}
