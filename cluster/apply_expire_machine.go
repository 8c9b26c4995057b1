package cluster

import (
	"fmt"
	"slices"
)

// ExpireMachine reports that a machine is lost, with its attempts and the output on it. The
// machine has no slots until it joins again. Epoch is the epoch of its latest join. Output
// is revoked only if a task needs it. A task that has Fetched the output does not need it.
type ExpireMachine struct {
	Name    string  `cbor:"Name"`
	Epoch   int     `cbor:"Epoch"`
	Fetched Fetched `cbor:"Fetched,omitzero"`
}

func (c ExpireMachine) subject() any { return nil }

func (c ExpireMachine) apply(tx *transition, _ taskRef) error {
	m := tx.byName[c.Name]
	if m == nil || m.Epoch != c.Epoch || m.Lost {
		return fmt.Errorf("%w: machine %q, epoch %d", ErrUnknown, c.Name, c.Epoch)
	}
	if !c.Fetched.isSorted() {
		return fmt.Errorf("%w: machine %q with attempts out of order", ErrRefused, c.Name)
	}
	tx.loseMachine(m, "machine "+c.Name+" is lost", nil, c.Fetched)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// loseMachine ends the attempts on a machine and takes away its slots, its output and its
// checkpoints, except those of the attempts in retained, which is in order.
func (tx *transition) loseMachine(m *Machine, cause string, retained []AttemptID, fetched Fetched) {
	tx.losing = m
	tx.loseCheckpoints(m, retained)
	for _, a := range slices.Clone(m.Attempts) {
		p, err := tx.attempt(a.ID)
		if err != nil {
			panic(fmt.Sprintf("cluster: attempt of machine %s: %v", m.Name, err))
		}
		tx.touched = p.job
		if a.Active() {
			tx.endAttempt(p, eventLoseMachine, cause)
		} else {
			tx.step(p, eventLoseMachine)
		}
	}
	m.Lost, m.LostAt = true, tx.at
	tx.lost++
	tx.setSlots(m)
	for j := range tx.View().Jobs() {
		tx.loseOutputs(j, m.Name, cause, retained, fetched)
	}
	tx.losing = nil
}
