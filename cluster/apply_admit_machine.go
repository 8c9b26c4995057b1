package cluster

import "fmt"

// AdmitMachine excludes a machine from new tasks, or admits it again. What it
// runs goes on, and its output is served. It is not drained any more.
type AdmitMachine struct {
	Name     string
	Excluded bool
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
	outputs, checkpoints := v.Remains(m)
	return len(m.Attempts)+len(outputs)+len(checkpoints) > 0
}

// Remains are the tasks whose output, and those whose checkpoint lies on a machine
// and is needed. It looks at every task of the jobs that run.
func (v View) Remains(m *Machine) (outputs, checkpoints []*Task) {
	for j := range v.Jobs() {
		if j.State != JobRunning {
			continue
		}
		for _, stage := range j.Stages {
			needed := !stage.Stored && j.needed(stage)
			for _, t := range stage.Tasks {
				switch {
				case needed && t.Winner != nil && !t.Winner.Lost && t.Winner.Home() == m.Name:
					outputs = append(outputs, t)
				case t.Winner == nil && t.Checkpoint != nil && t.Checkpoint.Machine == m.Name && t.Checkpoint.Copy == nil:
					checkpoints = append(checkpoints, t)
				}
			}
		}
	}
	return outputs, checkpoints
}
