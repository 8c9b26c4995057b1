package fleet

import (
	"context"
	"testing"
	"time"

	"github.com/hammr/hammr/internal/kit/syncutil"
	"github.com/hammr/hammr/internal/rpc/wire"
	"github.com/hammr/hammr/tasknode"
)

// fakeSession is a session that drops reports and never receives orders.
type fakeSession struct{ _ int }

var _ tasknode.Session = (*fakeSession)(nil)

func (*fakeSession) Send(*wire.Report)                              {}
func (*fakeSession) Receive(context.Context) ([]*wire.Order, error) { return nil, context.Canceled }
func (*fakeSession) Close()                                         {}

// TestCrashedMachineDropsItsOrders checks that orders which had arrived before a crash are not
// executed after it, and that those of the next session are.
func TestCrashedMachineDropsItsOrders(t *testing.T) {
	before, after := new(fakeSession), new(fakeSession)
	m := &machine{
		fleet: &Fleet{ledger: newLedger(), cfg: Config{Expiry: time.Minute}},
		inbox: syncutil.NewMailbox[func()](), session: before, unacked: make(map[string]*wire.Report),
	}
	orders := []*wire.Order{{Order: &wire.Order_Acknowledge_{Acknowledge: &wire.Order_Acknowledge{AttemptId: "a"}}}}
	m.leave(time.Second, true)
	for _, do := range m.inbox.Take() {
		do()
	}
	m.unacked["a"] = new(wire.Report)
	if m.executeAll(before, orders); m.unacked["a"] == nil {
		t.Error("an order of the session before the crash is executed")
	}
	m.session = after
	if m.executeAll(after, orders); m.unacked["a"] != nil {
		t.Error("an order of the session after the crash is not executed")
	}
}
