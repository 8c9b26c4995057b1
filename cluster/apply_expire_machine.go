package cluster

import (
	"fmt"
	"slices"
)

// ExpireMachine says that a machine is gone, with what ran on it and the output
// that lay on it. It has no slots until it joins again. Epoch is that of the
// joining which ends.
type ExpireMachine struct {
	Name  string
	Epoch int
}

func (c ExpireMachine) apply(tx *transition) error {
	m := tx.byName[c.Name]
	if m == nil || m.Epoch != c.Epoch || m.Lost {
		return fmt.Errorf("%w: machine %q, epoch %d", ErrUnknown, c.Name, c.Epoch)
	}
	tx.lose(m, "machine "+c.Name+" is lost", nil)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// lose ends what runs on a machine and takes away its slots, its output and its
// checkpoints, but for those of the attempts in held, which are in order.
func (tx *transition) lose(m *Machine, cause string, held []AttemptID) {
	tx.loseCheckpoints(m.Name, held)
	for _, a := range slices.Clone(m.Attempts) {
		p, err := tx.attempt(a.ID)
		if err != nil {
			panic(fmt.Sprintf("cluster: attempt of machine %s: %v", m.Name, err))
		}
		if a.State == AttemptRunning {
			tx.end(p, AttemptKilled, cause)
			a.Lost = true
		}
		tx.leave(p)
	}
	m.Lost, m.LostAt = true, tx.at
	tx.lost++
	tx.setSlots(m)
	for j := range tx.View().Jobs() {
		tx.loseOutputs(j, m.Name, cause, held)
	}
}

// loseOutputs makes tasks run again whose output lay on a lost machine and is
// needed; what is stored lay on none. A task that runs again may need output that nobody needed before, so
// it looks until nothing more is found.
func (tx *transition) loseOutputs(j *Job, machine, cause string, held []AttemptID) {
	for found := true; found; {
		found = false
		for _, stage := range j.Stages {
			if !stage.Stored && j.needed(stage) && tx.loseStage(j, stage, machine, cause, held) {
				found = true
			}
		}
	}
}

func (tx *transition) loseStage(j *Job, stage *Stage, machine, cause string, held []AttemptID) (found bool) {
	for _, t := range stage.Tasks {
		if t.Winner == nil || t.Winner.Home() != machine {
			continue
		}
		if _, there := slices.BinarySearchFunc(held, t.Winner.ID, AttemptID.Compare); there {
			continue
		}
		t.Winner.Lost = true
		tx.revoke(place{job: j, stage: stage, task: t}, cause)
		found = true
	}
	return found
}
