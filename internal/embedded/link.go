package embedded

import (
	"context"

	"github.com/hammr/hammr/internal/mailbox"
	"github.com/hammr/hammr/internal/wire"
	"github.com/hammr/hammr/jobmaster"
)

// link joins the tasknode and the jobmaster of one process.
type link struct {
	master *jobmaster.Master
	orders *mailbox.Mailbox[*wire.Order]
}

func newLink(master *jobmaster.Master, machine string) *link {
	l := &link{master: master, orders: mailbox.New[*wire.Order]()}
	master.Connect(machine, l.orders.Put)
	return l
}

// Report implements tasknode.Link.
func (l *link) Report(r *wire.Report) { l.master.Report(r) }

// Orders implements tasknode.Link.
func (l *link) Orders(ctx context.Context) ([]*wire.Order, error) {
	select {
	case <-l.orders.Ready():
		return l.orders.Take(), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
