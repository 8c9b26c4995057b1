package cluster

import "fmt"

// AdmitMachine excludes a machine from new tasks, or admits it again and ends its draining.
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
	m.Excluded, m.Draining = c.Excluded, false
	tx.setSlots(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// NeededCheckpoint is a checkpoint from which a task may resume.
type NeededCheckpoint struct {
	*Task
	Writer AttemptID // the attempt that wrote it
}

// NeededOn returns the tasks whose output lies on a machine and is needed, and the needed
// checkpoints that no other machine has. Draining waits until both are empty. It visits
// every task of the running jobs.
func (v View) NeededOn(m *Machine) (outputs []*Task, checkpoints []NeededCheckpoint) {
	for j := range v.Jobs() {
		if j.State != JobRunning {
			continue
		}
		for _, stage := range j.Stages {
			needed := !stage.Stored && j.isNeeded(stage)
			for _, t := range stage.Tasks {
				if needed && t.Winner != nil && !t.Winner.Lost() && t.Winner.DataMachine() == m.Name {
					outputs = append(outputs, t)
				}
				for _, c := range []*Checkpoint{t.Checkpoint, t.ConsistentCheckpoint} {
					if c != nil && c.Machine == m.Name && c.Copy == nil {
						checkpoints = append(checkpoints, NeededCheckpoint{t, c.Attempt})
					}
				}
			}
		}
	}
	return outputs, checkpoints
}
