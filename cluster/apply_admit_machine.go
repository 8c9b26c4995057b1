package cluster

import "fmt"

// AdmitMachine excludes a machine from new tasks, or admits it again, ends its draining and
// forgets why it was avoided.
// The attempts on an excluded machine continue, and the machine serves its output.
type AdmitMachine struct {
	Name     string `cbor:"Name"`
	Excluded bool   `cbor:"Excluded"`
}

func (c AdmitMachine) subject() any { return nil }

func (c AdmitMachine) apply(tx *transition, _ taskRef) error {
	m := tx.byName[c.Name]
	if m == nil {
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Name)
	}
	m.Excluded, m.Draining, m.UntilRestart, m.DrainDeadline = c.Excluded, false, false, 0
	if !c.Excluded {
		tx.forgetSuspicion(m)
	}
	tx.setSlots(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}
