package cluster

import "fmt"

// DrainMachine excludes a machine from new tasks and has what runs there go on
// elsewhere, without what it has done being lost: it ends early or writes a
// checkpoint, a gang whole. What can do neither runs on until it ends by itself, and a
// gang that can do neither and stands still goes on when there are slots. AdmitMachine
// puts an end to it.
//
// The last machine that takes tasks is not drained: nothing could go on.
type DrainMachine struct {
	Name  string `cbor:"Name"`
	Cause string `cbor:"Cause"` // for people: why what runs there ends
}

func (c DrainMachine) apply(tx *transition) error {
	m := tx.byName[c.Name]
	switch {
	case m == nil:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Name)
	case m.Lost:
		return fmt.Errorf("%w: tasknode %s is lost: nothing can be moved from it", ErrRefused, c.Name)
	case !tx.otherTakesTasks(m):
		return fmt.Errorf("%w: no other tasknode takes tasks, so nothing can go elsewhere: "+
			"start one, or give tasks again to one that was removed ('hammr node add'), or let the work of %s end ('hammr node remove %s')",
			ErrRefused, c.Name, c.Name)
	}
	m.Excluded, m.Draining = true, true
	tx.setSlots(m)
	for _, a := range m.Attempts {
		if p, err := tx.attempt(a.ID); err == nil && a.State == AttemptRunning {
			tx.migrate(p, c.Cause)
		}
	}
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// otherTakesTasks reports whether another machine has slots to give out.
func (tx *transition) otherTakesTasks(m *Machine) bool {
	for _, other := range tx.machines {
		if other != m && other.Slots != [slotKinds]int{} {
			return true
		}
	}
	return false
}

// migrate has an attempt keep its work and end, so that another machine may go
// on, and all that run in a gang with it. What stands still is woken for that, in
// slots more than the machines have.
func (tx *transition) migrate(p taskRef, cause string) {
	if p.stage.Bundle.Gang && p.stage.DisallowedModes.Has(WayCheckpoint) {
		return
	}
	cut := PauseAttempt{Attempt: p.attempt.ID, Cause: cause, Split: true}
	save := PauseAttempt{Attempt: p.attempt.ID, Cause: cause}
	for _, each := range p.gang() {
		if each.attempt.Suspended {
			tx.resume(each)
			tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
		}
	}
	if p.canSplit() && cut.apply(tx) == nil {
		return
	}
	_ = save.apply(tx) // else it ends by itself
}
