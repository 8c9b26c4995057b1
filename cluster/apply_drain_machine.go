package cluster

import (
	"fmt"

	"github.com/hammr/hammr/preempt"
)

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
		if p, err := tx.attempt(a.ID); err == nil && a.Active() {
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

// migrate makes an attempt, and all that run in a gang with it, save their work and
// exit, so that another machine resumes it. Suspended attempts are resumed for that, in
// more slots than their machines have. What cannot save its work runs on.
func (tx *transition) migrate(p taskRef, cause string) {
	if p.stage.Bundle.Gang && p.stage.DisallowedModes.Has(preempt.Checkpoint) {
		return
	}
	for _, each := range p.gang() {
		if each.attempt.Suspended() {
			tx.resume(each)
			tx.delta.OrdersChanged = append(tx.delta.OrdersChanged, each.attempt.ID)
		}
	}
	tx.preemptKeepingWork(p, cause, preempt.Split, preempt.Checkpoint)
}
