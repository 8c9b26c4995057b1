package cluster

import "fmt"

// AdmitMachine excludes a machine from new tasks, or admits it again. What it
// runs goes on, and its output is served. It is not drained any more.
type AdmitMachine struct {
	Name     string `cbor:"Name"`
	Excluded bool   `cbor:"Excluded"`
}

func (c AdmitMachine) apply(tx *transition) error {
	m := tx.byName[c.Name]
	if m == nil {
		return fmt.Errorf("%w: machine %q", ErrUnknown, c.Name)
	}
	m.Excluded, m.Draining = c.Excluded, false
	tx.setSlots(m)
	tx.delta.Machines = append(tx.delta.Machines, c.Name)
	return nil
}

// Holds reports whether something would be lost with a machine that its jobs
// still need: attempts, output or checkpoints. It looks at every task of the
// jobs that run.
func (v View) Holds(m *Machine) bool {
	outputs, checkpoints := v.NeededOn(m)
	return len(m.Attempts)+len(outputs)+len(checkpoints) > 0
}

// NeededCheckpoint is a checkpoint from which a task may go on.
type NeededCheckpoint struct {
	*Task
	Writer AttemptID // that wrote it
}

// NeededOn are the tasks whose output lies on a machine and is needed, and the
// checkpoints that lie there alone and are. It looks at every task of the jobs that run.
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
