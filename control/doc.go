// Package control is the brain of the jobmaster. It is stepped by hand: events
// go in, and out come commands for the log, orders for machines and work for
// the body around it.
//
//	out := c.Step(now, events)
//	propose out.Commands; send out.Orders; begin out.Work
//	step again when events arrive, or at out.Wake
//
// It decides on applied state only. At most one batch of commands is on its way
// through the log at a time; what arrives meanwhile waits for the next. So an
// order to start leaves when the start is committed, and never twice.
//
// The caller applies each committed batch to the State that it shares with the
// controller and then delivers an Applied event, before anything else changes
// that State. State and controller belong to one goroutine.
//
// Orders and work follow from the state, and may come more than once: machines
// know attempts by id, and the body knows which job it works at.
package control
