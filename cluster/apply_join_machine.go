package cluster

import (
	"fmt"
	"slices"
)

// JoinMachine adds a machine, or changes what is known of one that is there.
// Another Instance than before means that its tasknode was started anew: what
// ran under the old one is gone, with the output and the checkpoints that lay
// there and are not among Held. Of that output only what somebody needs runs again,
// who has not Fetched it, as with ExpireMachine. Of a machine that was lost, what is
// Held is there again, unless it runs again.
//
// One that is excluded may join, and gets nothing to do.
type JoinMachine struct {
	Name     string         `cbor:"Name"`
	Instance string         `cbor:"Instance"` // of the tasknode, another one after each start
	Address  string         `cbor:"Address"`
	HTTP     string         `cbor:"HTTP"`
	Rack     string         `cbor:"Rack"`
	Hosts    []string       `cbor:"Hosts"`
	Slots    [slotKinds]int `cbor:"Slots"`
	Retained []AttemptID    `cbor:"Held"` // attempts whose output or checkpoint it has found again, ascending
	Fetched  Fetched        `cbor:"Fetched,omitzero"`
}

func (c JoinMachine) apply(tx *transition) error {
	if c.Name == "" || c.Slots[MapSlot] < 0 || c.Slots[ReduceSlot] < 0 {
		return fmt.Errorf("%w: machine %q with slots %v", ErrRefused, c.Name, c.Slots)
	}
	if !slices.IsSortedFunc(c.Retained, AttemptID.Compare) || !c.Fetched.isSorted() {
		return fmt.Errorf("%w: machine %q with attempts out of order", ErrRefused, c.Name)
	}
	m := tx.byName[c.Name]
	if m == nil {
		m = &Machine{Name: c.Name, index: len(tx.machines), Lost: true}
		tx.machines = append(tx.machines, m)
		tx.lost++
		tx.byName[c.Name] = m
	}
	if !m.Lost && m.Instance != c.Instance {
		tx.loseMachine(m, "the tasknode of "+c.Name+" was started anew", c.Retained, c.Fetched)
	}
	if m.Lost {
		m.Lost = false
		tx.lost--
		m.Epoch++
		tx.restoreRetained(c.Retained, c.Name)
	}
	m.Instance, m.Address, m.HTTP, m.Rack, m.Hosts, m.Offered = c.Instance, c.Address, c.HTTP, c.Rack, c.Hosts, c.Slots
	tx.setSlots(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// restoreRetained notes that output of finished attempts is there again that was gone with a
// machine.
func (tx *transition) restoreRetained(held []AttemptID, machine string) {
	for _, id := range held {
		if p, err := tx.attempt(id); err == nil && p.task.Winner == p.attempt && p.attempt.Lost() && p.attempt.DataMachine() == machine {
			p.stage.findOutput(p.task)
		}
	}
}
