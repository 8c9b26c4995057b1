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
	if m == nil || m.Epoch != c.Epoch {
		return fmt.Errorf("%w: machine %q, epoch %d", ErrUnknown, c.Name, c.Epoch)
	}
	for _, a := range slices.Clone(m.Attempts) {
		p, err := tx.attempt(a.ID)
		if err != nil {
			return err
		}
		if a.State == AttemptRunning {
			tx.end(p, AttemptKilled, "machine "+c.Name+" is lost")
		}
		tx.leave(p)
	}
	m.Slots = [slotKinds]int{}
	tx.indexFree(m)
	for _, j := range tx.jobs {
		tx.loseOutputs(j, c.Name)
	}
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// loseOutputs makes tasks run again whose output lay on a lost machine and is
// needed. A task that runs again may need output that nobody needed before, so
// it looks until nothing more is found.
func (tx *transition) loseOutputs(j *Job, machine string) {
	for found := true; found; {
		found = false
		for _, stage := range j.Stages {
			if j.needed(stage) && tx.loseStage(j, stage, machine) {
				found = true
			}
		}
	}
}

func (tx *transition) loseStage(j *Job, stage *Stage, machine string) (found bool) {
	for _, t := range stage.Tasks {
		if t.Winner != nil && t.Winner.Machine == machine {
			tx.revoke(place{job: j, stage: stage, task: t}, "machine "+machine+" is lost")
			found = true
		}
	}
	return found
}
