package cluster

import "fmt"

// JoinMachine adds a machine, or changes what is known of one that is there.
// Another Instance than before means that its tasknode was started anew: what
// ran under the old one is gone, with the output that lay there.
type JoinMachine struct {
	Name     string
	Instance string // of the tasknode, another one after each start
	Address  string
	HTTP     string
	Rack     string
	Hosts    []string
	Slots    [slotKinds]int
}

func (c JoinMachine) apply(tx *transition) error {
	if c.Name == "" || c.Slots[MapSlot] < 0 || c.Slots[ReduceSlot] < 0 {
		return fmt.Errorf("%w: machine %q with slots %v", ErrRefused, c.Name, c.Slots)
	}
	m := tx.byName[c.Name]
	if m == nil {
		m = &Machine{Name: c.Name, index: len(tx.machines), Lost: true}
		tx.machines = append(tx.machines, m)
		tx.lost++
		tx.byName[c.Name] = m
	}
	if !m.Lost && m.Instance != c.Instance {
		tx.lose(m, "the tasknode of "+c.Name+" was started anew")
	}
	if m.Lost {
		m.Lost = false
		tx.lost--
		m.Epoch++
	}
	m.Instance, m.Address, m.HTTP, m.Rack, m.Hosts, m.Slots = c.Instance, c.Address, c.HTTP, c.Rack, c.Hosts, c.Slots
	tx.indexFree(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}
