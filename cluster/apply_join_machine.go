package cluster

import "fmt"

// JoinMachine adds a machine, or changes what is known of one that is there.
type JoinMachine struct {
	Name    string
	Address string
	Hosts   []string
	Slots   [slotKinds]int
}

func (c JoinMachine) apply(tx *transition) error {
	if c.Name == "" || c.Slots[MapSlot] < 0 || c.Slots[ReduceSlot] < 0 {
		return fmt.Errorf("%w: machine %q with slots %v", ErrRefused, c.Name, c.Slots)
	}
	m := tx.byName[c.Name]
	if m == nil {
		m = &Machine{Name: c.Name, index: len(tx.machines)}
		tx.machines = append(tx.machines, m)
		tx.byName[c.Name] = m
	}
	m.Address, m.Hosts, m.Slots = c.Address, c.Hosts, c.Slots
	m.Epoch++
	tx.indexFree(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}
