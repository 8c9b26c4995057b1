package cluster

import (
	"fmt"
	"slices"
)

// ForgetMachine takes a machine out of the state that is lost and will not be
// missed. Should its tasknode join after all, it is a new machine. Epoch is that
// of its latest joining.
//
// One that is excluded stays, so that it is excluded when it comes back, and one
// stays to which a job refers that is not over.
type ForgetMachine struct {
	Name  string `cbor:"Name"`
	Epoch int    `cbor:"Epoch"`
}

func (c ForgetMachine) apply(tx *transition) error {
	m := tx.byName[c.Name]
	switch {
	case m == nil || m.Epoch != c.Epoch:
		return fmt.Errorf("%w: machine %q, epoch %d", ErrUnknown, c.Name, c.Epoch)
	case !m.Lost || m.Excluded || tx.View().ReferencedMachines()[c.Name]:
		return fmt.Errorf("%w: machine %q is there, excluded, or a job refers to it", ErrRefused, c.Name)
	}
	tx.forget(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// forget takes a lost machine out of all indexes. Those that joined after it
// move up by one.
func (tx *transition) forget(m *Machine) {
	delete(tx.byName, m.Name)
	tx.machines = slices.Delete(tx.machines, m.index, m.index+1)
	tx.lost--
	tx.free = [slotKinds]numberSet{}
	for i, m := range tx.machines {
		m.index = i
		for kind := range tx.free {
			if m.Free(Slot(kind)) > 0 {
				tx.free[kind].add(i)
			}
		}
	}
}

// ReferencedMachines are the names of the machines to which a job that is not over refers:
// by an attempt that holds a slot, by output, needed or not, or by a checkpoint.
// It looks at every task of these jobs. A machine that is lost and not referred
// to is not referred to again before it joins.
func (v View) ReferencedMachines() map[string]bool {
	names := make(map[string]bool)
	for m := range v.Machines() {
		if len(m.Attempts) > 0 {
			names[m.Name] = true
		}
	}
	for j := range v.Jobs() {
		if j.State.Final() {
			continue
		}
		for _, stage := range j.Stages {
			for _, t := range stage.Tasks {
				if t.Winner != nil {
					names[t.Winner.DataMachine()] = true
				}
				for _, c := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
					if c != nil && c.Machine != "" {
						names[c.Machine] = true
					}
				}
			}
		}
	}
	return names
}
