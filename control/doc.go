// Package control makes the decisions of the jobmaster, as a deterministic function of
// events. Its caller, the body, calls Step. Events go in; commands for the log, orders for
// machines and work for the body come out:
//
//	out := c.Step(now, events)
//	propose out.Commands; send out.Orders; begin out.Work
//	step again when events arrive, or at out.Wake
//
// It decides on applied state, and with AnticipateEnds also on the ends of attempts in the
// batch that it makes. At most one batch of commands is in the log and not applied; commands
// that become pending meanwhile wait for the next one. So an order to start is sent when the
// start is committed, and a slot is never given out twice.
//
// The caller applies each committed batch to the State that it shares with the controller,
// and then delivers an Applied event before anything else changes that State. State and
// controller belong to one goroutine.
//
// If Step panics, the caller calls Recover before the next Step.
//
// Orders and work follow from the state and may come more than once: tasknodes know attempts
// by id, and the body knows which jobs it works on.
package control
