package cluster

import "fmt"

// DrainMachine excludes a machine from new tasks and moves its work to other machines: its
// attempts are split or write checkpoints, gangs as a whole. An attempt that can do neither
// runs on until it ends; a suspended gang that can do neither resumes when there are slots.
// AdmitMachine ends the draining. If it is UntilRestart, the next start of the tasknode ends it
// too; that does not weaken an exclusion that a user has asked for before.
//
// The last machine that takes tasks is not drained: its work could not resume anywhere.
type DrainMachine struct {
	Name  string `cbor:"Name"`
	Cause string `cbor:"Cause"` // shown to users: why its attempts end

	UntilRestart bool  `cbor:"UntilRestart,omitzero"`
	Deadline     int64 `cbor:"Deadline,omitzero"` // see Machine.DrainDeadline
}

func (c DrainMachine) subject() any { return nil }

func (c DrainMachine) apply(tx *transition, _ taskRef) error {
	m := tx.byName[c.Name]
	switch {
	case m == nil:
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Name)
	case m.Lost:
		return fmt.Errorf("%w: tasknode %s is lost: nothing can be moved from it", ErrRefused, c.Name)
	case !tx.otherTakesTasks(m):
		return fmt.Errorf("%w: no other tasknode takes tasks, so nothing can be moved: "+
			"start one, or give tasks again to one that was removed ('hammr node add'), or let the work of %s end ('hammr node remove %s')",
			ErrRefused, c.Name, c.Name)
	}
	m.UntilRestart = c.UntilRestart && (!m.Excluded || m.UntilRestart)
	m.Excluded, m.Draining, m.DrainDeadline = true, true, c.Deadline
	tx.setSlots(m)
	for _, a := range m.Attempts {
		p, err := tx.attempt(a.ID)
		if err != nil || !a.Active() || a.Suspended() && !p.canMigrate() {
			continue // a suspended attempt that resumed would run to its end, even if a user has suspended its job
		}
		tx.touched = p.job
		tx.migrate(p, c.Cause)
	}
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// otherTakesTasks reports whether another machine has usable slots.
func (tx *transition) otherTakesTasks(m *Machine) bool {
	for _, other := range tx.Machines {
		if other != m && !other.Slots.IsZero() {
			return true
		}
	}
	return false
}
