package cluster

import (
	"fmt"
	"slices"
)

// JoinMachine adds a machine, or updates a known one. A new Instance means that its tasknode
// has restarted: its attempts are lost, and so are all output and checkpoints that are not
// in Retained. A lost output is written again only if a task needs it and has not Fetched
// it, as with ExpireMachine. If the machine was lost, its Retained output counts again,
// unless the task of that output runs again already.
//
// An excluded machine may join, and gets no tasks, unless it was drained until a restart.
type JoinMachine struct {
	Name     string      `cbor:"Name"`
	Instance string      `cbor:"Instance"` // of the tasknode; it differs after each start
	Address  string      `cbor:"Address"`
	HTTP     string      `cbor:"HTTP"`
	Rack     string      `cbor:"Rack"`
	Hosts    []string    `cbor:"Hosts"`
	Slots    Slots       `cbor:"Slots"`
	MemoryMB int64       `cbor:"MemoryMB,omitzero"` // that its tasks may take together, MiB; 0 for any amount
	Retained []AttemptID `cbor:"Retained"`          // attempts whose output or checkpoint it still has, ascending
	Fetched  Fetched     `cbor:"Fetched,omitzero"`
}

func (c JoinMachine) subject() any { return nil }

func (c JoinMachine) apply(tx *transition, _ taskRef) error {
	if c.Name == "" || c.Slots[MapSlot] < 0 || c.Slots[ReduceSlot] < 0 || c.MemoryMB < 0 || c.MemoryMB > maxMemoryMB {
		return fmt.Errorf("%w: machine %q with slots %v and %d MiB of memory", ErrRefused, c.Name, c.Slots, c.MemoryMB)
	}
	if !slices.IsSortedFunc(c.Retained, AttemptID.Compare) || !c.Fetched.isSorted() {
		return fmt.Errorf("%w: machine %q with attempts out of order", ErrRefused, c.Name)
	}
	m := tx.byName[c.Name]
	if m == nil {
		m = &Machine{Name: c.Name, index: len(tx.Machines), Lost: true}
		tx.Machines = append(tx.Machines, m)
		tx.lost++
		tx.byName[c.Name] = m
	}
	if m.Instance != c.Instance {
		tx.forgetSuspicion(m)
		if m.UntilRestart {
			m.Excluded, m.Draining, m.UntilRestart, m.DrainDeadline = false, false, false, 0
		}
	}
	if !m.Lost && m.Instance != c.Instance {
		tx.loseMachine(m, "the tasknode of "+c.Name+" has restarted", c.Retained, c.Fetched)
	}
	if m.Lost {
		m.Lost = false
		tx.lost--
		m.Epoch++
		tx.restoreRetained(c.Retained, c.Name)
	}
	m.Instance, m.Address, m.HTTP, m.Rack, m.Hosts, m.Offered = c.Instance, c.Address, c.HTTP, c.Rack, c.Hosts, c.Slots
	m.MemoryMB = c.MemoryMB
	tx.setSlots(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// restoreRetained notes that a machine that was lost has output of finished attempts again.
func (tx *transition) restoreRetained(retained []AttemptID, machine string) {
	for _, id := range retained {
		if p, err := tx.attempt(id); err == nil && p.task.Winner == p.attempt && p.attempt.Lost() && p.attempt.DataMachine() == machine {
			p.stage.findOutput(p.task)
		}
	}
}
