package jobmaster

import (
	"context"
	"fmt"
	"time"

	"github.com/hammr/hammr/cluster"
	"github.com/hammr/hammr/control"
	"github.com/hammr/hammr/internal/rpc/wire"
)

// A tasknode owns its slots, and the state has what it offers. So a user's change is an order to the tasknode:
//
//	SetSlots ──► Order.SetSlots ──► the tasknode keeps them on its disk
//	         Joined with SlotsSet ◄──┘
//	               └──► JoinMachine in the log ──► answer
//
// The next leader, and a leader to which the tasknode connects again, learn the slots from its Joined report.

// slotsTimeout bounds the time in which a tasknode answers SetSlots.
const slotsTimeout = 10 * time.Second

// slotsRequest is a request to set the slots of a tasknode.
type slotsRequest struct {
	node   string
	slots  cluster.Slots // -1 for as many as before
	by     string        // user who has sent the request
	until  int64         // when its caller gives up, ms since the epoch
	joined bool          // the tasknode has set them, and JoinMachine is on its way through the log
	answer chan<- result[struct{}]
}

// SetSlots sets how many maps and reduces a tasknode runs at once; -1 leaves a number as it is. Attempts that have
// a slot too many run to their end. The error wraps cluster.ErrUnknown, or cluster.ErrRefused if the tasknode is not
// connected or refuses the numbers.
//
// If the result is nil, the tasknode has the slots also after its next start, unless it starts with other settings.
func (m *Master) SetSlots(ctx context.Context, node string, slots cluster.Slots) error {
	ctx, cancel := context.WithTimeoutCause(ctx, slotsTimeout,
		fmt.Errorf("%w: tasknode %s has not answered within %v: it hangs, or is of an older release; see its log, or change its settings and send it SIGHUP", cluster.ErrRefused, node, slotsTimeout))
	defer cancel()
	answer := make(chan result[struct{}], 1)
	_, err := call(ctx, m, &slotsRequest{node: node, slots: slots, by: UserOf(ctx), answer: answer}, answer)
	return err
}

func (q *slotsRequest) refuse(err error) { q.answer <- result[struct{}]{err: err} }

func (q *slotsRequest) handle(m *Master) {
	machine, err := m.machineNamed(q.node)
	n := m.tasknodes[q.node] // each machine of the state has one
	switch {
	case err != nil:
	case machine.Lost:
		err = fmt.Errorf("%w: tasknode %s is lost: start it, and set its slots then", cluster.ErrRefused, q.node)
	case n.attachment == nil || n.attachment.instance != machine.Instance:
		err = fmt.Errorf("%w: tasknode %s is not connected to the leader: set its slots when it is RUNNING", cluster.ErrRefused, q.node)
	case n.slots != nil && m.now() < n.slots.until:
		err = fmt.Errorf("%w: the slots of tasknode %s are being set: repeat the command", cluster.ErrRefused, q.node)
	default:
		n.slots, q.until = q, m.now()+slotsTimeout.Milliseconds()
		n.attachment.send(&wire.Order{Order: &wire.Order_SetSlots_{SetSlots: &wire.Order_SetSlots{
			MapSlots: int32(q.slots[cluster.MapSlot]), ReduceSlots: int32(q.slots[cluster.ReduceSlot]),
		}}})
		return
	}
	q.refuse(err)
}

// requestJoin requests the command by which a tasknode joins. If the tasknode joins because its slots were set, the
// user of the command is the one who has set them.
func (m *Master) requestJoin(n *tasknodeRecord, c cluster.JoinMachine, set *wire.Report_SlotsSet) {
	by := ""
	if set.GetError() != "" {
		n.endSlots(fmt.Errorf("%w: tasknode %s: %s", cluster.ErrRefused, c.Name, set.Error))
	} else if set != nil && n.slots != nil {
		by, n.slots.joined = n.slots.by, true
	}
	m.events = append(m.events, control.Requested{Command: c, By: by})
}

// endSlots answers the request to set slots, if there is one.
func (n *tasknodeRecord) endSlots(err error) {
	if n.slots != nil {
		n.slots.refuse(err)
		n.slots = nil
	}
}

// errSlotsUnknown is the answer to a request to set slots when the connection breaks.
var errSlotsUnknown = fmt.Errorf("%w: the connection to the tasknode broke before it answered: see whether it has the slots, or repeat the command", cluster.ErrRefused)
