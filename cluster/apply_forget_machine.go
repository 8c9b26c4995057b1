package cluster

import (
	"fmt"
	"slices"
)

// ForgetMachine removes a lost machine from the state. If its tasknode joins later, it
// counts as a new machine. Epoch is the epoch of its latest join.
//
// An excluded machine is kept, so that it is still excluded when it comes back, unless it was
// drained. A machine to which an unfinished job refers is kept too.
type ForgetMachine struct {
	Name  string `cbor:"Name"`
	Epoch int    `cbor:"Epoch"`
}

func (c ForgetMachine) subject() any { return nil }

func (c ForgetMachine) apply(tx *transition, _ taskRef) error {
	m := tx.byName[c.Name]
	switch {
	case m == nil || m.Epoch != c.Epoch:
		return fmt.Errorf("%w: machine %q, epoch %d", ErrUnknown, c.Name, c.Epoch)
	case !m.MayBeForgotten() || tx.View().IsReferenced(m):
		return fmt.Errorf("%w: machine %q is connected, excluded, or a job refers to it", ErrRefused, c.Name)
	}
	tx.forget(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// forget removes a lost machine from all indexes. The indexes of machines that joined after
// it decrease by one.
func (tx *transition) forget(m *Machine) {
	delete(tx.byName, m.Name)
	tx.forgetSuspicion(m)
	tx.Machines = slices.Delete(tx.Machines, m.index, m.index+1)
	tx.lost--
	tx.free = [slotKinds]numberSet{}
	for i, m := range tx.Machines {
		m.index = i
		for kind := range tx.free {
			if m.Free(Slot(kind)) > 0 {
				tx.free[kind].add(i)
			}
		}
	}
}

// MayBeForgotten reports whether a machine is lost and no administrator wants it to stay
// excluded. A machine that was drained before it left is not expected to return.
func (m *Machine) MayBeForgotten() bool { return m.Lost && (!m.Excluded || m.Draining) }
